# Generated from the program's help by tests/cli/completions.py --write.

function __fish_placement_manage_is_at
    set -l path placement-manage
    set -l before
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $before" 'placement-manage --config-file' 'placement-manage --log-config-append' 'placement-manage --log-config' 'placement-manage --log-file' 'placement-manage --logfile' 'placement-manage --config-dir' 'placement-manage --log-dir' 'placement-manage --logdir' 'placement-manage --log-date-format' 'placement-manage --syslog-log-facility' 'placement-manage db online_data_migrations --max-count' 'placement-manage db copy --to'
            set before
            continue
        end
        set before $word
        if contains -- "$path $word" 'placement-manage db' 'placement-manage db sync' 'placement-manage db version' 'placement-manage db stamp' 'placement-manage db online_data_migrations' 'placement-manage db coexist' 'placement-manage db copy'
            set path "$path $word"
        end
    end
    test "$path" = "$argv"
end

complete -c placement-manage -f
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -a 'db' -d 'Commands for the database; see db --help.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l version -s V -d 'Show the version and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l config-file -r -F -d 'Read this file instead of the first placement.conf in ~/.placement, ~, /etc/placement and /etc. May be repeated; later files override earlier ones.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l config-dir -x -a '(__fish_complete_directories)' -d 'Read the *.conf files in this directory, in the order of their names, instead of those in the first placement.conf.d in the same places. May be repeated.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l debug -s d -d 'Log at level DEBUG.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l nodebug -d 'The inverse of --debug.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l log-config-append -l log-config -r -F -d 'Set [DEFAULT] log_config_append: a logging configuration in Python'\''s format.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l log-date-format -x -d 'Set [DEFAULT] log_date_format: how times are written, in strftime'\''s syntax.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l log-dir -l logdir -x -a '(__fish_complete_directories)' -d 'Set [DEFAULT] log_dir: the directory of --log-file.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l log-file -l logfile -r -F -d 'Set [DEFAULT] log_file: log to this file instead of standard error.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l syslog-log-facility -x -d 'Set [DEFAULT] syslog_log_facility, such as LOG_LOCAL0.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l use-journal -d 'Log to the journal.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l nouse-journal -d 'The inverse of --use-journal.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l use-json -d 'Write log lines as JSON.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l nouse-json -d 'The inverse of --use-json.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l use-syslog -d 'Log to syslog.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l nouse-syslog -d 'The inverse of --use-syslog.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l watch-log-file -d 'Reopen the log file when it is moved.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage' -l nowatch-log-file -d 'The inverse of --watch-log-file.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db' -a 'sync' -d 'Upgrade the schema to the newest revision.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db' -a 'version' -d 'Print the revision of the schema.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db' -a 'stamp' -d 'Set the revision without migrating.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db' -a 'online_data_migrations' -d 'Complete rows that old releases left incomplete.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db' -a 'coexist' -d 'Let berthd notice at once what other programs write: enable, disable or status.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db' -a 'copy' -d 'Copy an SQLite database to a database server, and compare all rows.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db sync' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db version' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db stamp' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db online_data_migrations' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db online_data_migrations' -l max-count -x -d 'Complete at most this many rows and exit; without it, rows are completed in batches of 50 until none is left.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db coexist' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db copy' -l help -s h -d 'Show this help and exit.'
complete -c placement-manage -n '__fish_placement_manage_is_at placement-manage db copy' -l to -x -d 'The empty database on a server, as [placement_database] connection names it; -: read the URL from standard input.'
