# Generated from the program's help by tests/cli/completions.py --write.

function __fish_placement_status_is_at
    set -l path placement-status
    set -l before
    for word in (commandline -opc)[2..-1]
        if contains -- "$path $before" 'placement-status --config-file' 'placement-status --log-config-append' 'placement-status --log-config' 'placement-status --log-file' 'placement-status --logfile' 'placement-status --config-dir' 'placement-status --log-dir' 'placement-status --logdir' 'placement-status --log-date-format' 'placement-status --syslog-log-facility'
            set before
            continue
        end
        set before $word
        if contains -- "$path $word" 'placement-status upgrade' 'placement-status upgrade check'
            set path "$path $word"
        end
    end
    test "$path" = "$argv"
end

complete -c placement-status -f
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -a 'upgrade' -d 'Commands for upgrades; see upgrade --help.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l help -s h -d 'Show this help and exit.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l version -s V -d 'Show the version and exit.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l config-file -r -F -d 'Read this file instead of the first placement.conf in ~/.placement, ~, /etc/placement and /etc. May be repeated; later files override earlier ones.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l config-dir -x -a '(__fish_complete_directories)' -d 'Read the *.conf files in this directory, in the order of their names, instead of those in the first placement.conf.d in the same places. May be repeated.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l debug -s d -d 'Log at level DEBUG.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l nodebug -d 'The inverse of --debug.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l log-config-append -l log-config -r -F -d 'Set [DEFAULT] log_config_append: a logging configuration in Python'\''s format.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l log-date-format -x -d 'Set [DEFAULT] log_date_format: how times are written, in strftime'\''s syntax.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l log-dir -l logdir -x -a '(__fish_complete_directories)' -d 'Set [DEFAULT] log_dir: the directory of --log-file.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l log-file -l logfile -r -F -d 'Set [DEFAULT] log_file: log to this file instead of standard error.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l syslog-log-facility -x -d 'Set [DEFAULT] syslog_log_facility, such as LOG_LOCAL0.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l use-journal -d 'Log to the journal.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l nouse-journal -d 'The inverse of --use-journal.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l use-json -d 'Write log lines as JSON.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l nouse-json -d 'The inverse of --use-json.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l use-syslog -d 'Log to syslog.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l nouse-syslog -d 'The inverse of --use-syslog.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l watch-log-file -d 'Reopen the log file when it is moved.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status' -l nowatch-log-file -d 'The inverse of --watch-log-file.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status upgrade' -a 'check' -d 'Check whether the database and the policy file are ready for the next release.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status upgrade' -l help -s h -d 'Show this help and exit.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status upgrade' -l json -d 'Print the results as JSON instead of a table.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status upgrade check' -l help -s h -d 'Show this help and exit.'
complete -c placement-status -n '__fish_placement_status_is_at placement-status upgrade check' -l json -d 'Print the results as JSON instead of a table.'
