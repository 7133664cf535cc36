# SPDX-License-Identifier: GPL-2.0
# fish completion of twheelctl(1), from what --help prints

function __twheelctl_command
    string match -r '^(?:info|start|stat|top|list|bench|watch)$' -- (commandline -opc)
end

function __twheelctl_help
    ARGP_HELP_FMT=rmargin=1000 twheelctl (__twheelctl_command)[1] --help 2>/dev/null
end

function __twheelctl_commands
    __twheelctl_help | string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
    echo help
end

function __twheelctl_options
    __twheelctl_help | string replace -rf '^ .* --([a-z-]+)\S* +(.*)' -- '--$1\t$2'
end

complete -c twheelctl -f
complete -c twheelctl -n 'not __twheelctl_command' -a '(__twheelctl_commands)'
complete -c twheelctl -a '(__twheelctl_options)'
complete -c twheelctl -l proc -rF
complete -c twheelctl -l input -rF
complete -c twheelctl -l clock -xa 'monotonic boottime'
complete -c twheelctl -l sort -xa 'rate pending unread'
