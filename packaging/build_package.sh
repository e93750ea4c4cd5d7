#!/bin/sh
# Builds Debian's source and binary packages from the working tree into a directory, which it empties first.
#
#     packaging/build_package.sh DIRECTORY
#
# Files that git ignores are left out. The working tree is not changed: debian/ is a copy in an export of it.
# The same tree gives identical packages, byte for byte. Tests are run by ./dev check: DEB_BUILD_OPTIONS= also runs the
# unit tests.
set -eu
umask 022
export LC_ALL=C DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-nocheck}"
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."

die() {
    echo "build_package: $*" >&2
    exit 1
}

# The tree may belong to another user.
tree_git() {
    git -c safe.directory="*" "$@"
}

# list_files FILE: the files of the working tree, each terminated by a NUL byte. Deleted files are listed twice, and
# therefore dropped. The commands here and below run one after the other, because a pipe would hide the failure of all
# but the last.
list_files() {
    tree_git ls-files -z --cached --others --exclude-standard >"$1.twice"
    tree_git ls-files -z --deleted >>"$1.twice"
    sort --zero-terminated --output="$1.sorted" "$1.twice"
    uniq --zero-terminated --unique "$1.sorted" "$1"
}

tree_git rev-parse --is-inside-work-tree >/dev/null 2>&1 ||
    die "needs the git tree: without it nobody knows which files belong to it"
changelog=packaging/debian/changelog
version=$(dpkg-parsechangelog -l "$changelog" -S Version)
upstream=${version%-*}
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$changelog" -S Timestamp)
export SOURCE_DATE_EPOCH

find "$out" -mindepth 1 -delete
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$out/berth-$upstream
list_files "$scratch/files"
tar --create --file "$scratch/source.tar" --no-recursion --null --files-from="$scratch/files" \
    --transform "flags=r;s,^,berth-$upstream/," --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
    --numeric-owner --mode=u+rwX,go+rX,go-w
xz --threads=1 --stdout "$scratch/source.tar" >"$out/berth_$upstream.orig.tar.xz"
tar --extract --file "$out/berth_$upstream.orig.tar.xz" --directory "$out"
cp -a "$tree/packaging/debian" "$tree/debian"
cd "$tree"
dpkg-buildpackage --no-sign
cd "$out"
rm -rf "$tree"
if command -v lintian >/dev/null; then
    lintian --fail-on error,warning --info --tag-display-limit 0 "$out"/berth_*.changes
fi
ls -l "$out"
