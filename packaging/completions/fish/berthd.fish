# Generated from the program's help by tests/cli/completions.py --write.

function __fish_berthd_is_at
    set -l path berthd
    set -l before
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $before" 'berthd --config-file' 'berthd --config-dir' 'berthd --listen' 'berthd --admin-listen' 'berthd --baremetal-listen' 'berthd --valet-listen'
            set before
            continue
        end
        set before $word
        if contains -- "$path $word" 
            set path "$path $word"
        end
    end
    test "$path" = "$argv"
end

complete -c berthd -f
complete -c berthd -n '__fish_berthd_is_at berthd' -l help -s h -d 'Show this help and exit.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l version -s V -d 'Show the version and exit.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l config-file -r -F -d 'Read this file instead of the first placement.conf in ~/.placement, ~, /etc/placement and /etc. May be repeated; later files override earlier ones.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l config-dir -x -a '(__fish_complete_directories)' -d 'Read the *.conf files in this directory, in the order of their names, instead of those in the first placement.conf.d in the same places. May be repeated.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l listen -x -d 'Serve the Placement API here, or https://ADDRESS:PORT, or unix:/PATH, regardless of [berth] listen. May be repeated.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l admin-listen -x -d 'Serve metrics and health here, regardless of [berth] admin_listen. May be repeated.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l baremetal-listen -x -d 'Serve the bare metal API here, regardless of [baremetal] enabled and listen. May be repeated.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l valet-listen -x -d 'Serve the Valet API here, regardless of [valet] enabled and listen. May be repeated.'
complete -c berthd -n '__fish_berthd_is_at berthd' -l debug -s d -d 'Log at level DEBUG.'
