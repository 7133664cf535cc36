#compdef twheelctl
# SPDX-License-Identifier: GPL-2.0
# zsh completion of twheelctl(1), from what --help prints

local command=${words[(r)(info|start|stat|top|list|bench|watch)]} option=$words[CURRENT-1]
local -a help=(${(f)"$(ARGP_HELP_FMT=rmargin=1000 $words[1] ${=command} --help 2>/dev/null)"}) commands options

# zsh does not split an option at its =, so the value is a part of the word.
if compset -P '--*='; then
	option=${words[CURRENT]%%=*}
fi
case $option in
--proc | --input) _files ;;
--clock) compadd monotonic boottime ;;
--sort) compadd rate pending unread ;;
--tick) compadd 100us 1ms 10ms ;;
--interval | --delay) compadd 500ms 1s 5s ;;
--time) compadd 100ms 1s 10s ;;
--count | --rows | --timers) ;;
*)
	if [[ -z $command ]]; then
		commands=(${(f)"$(print -l -- $help | sed -nE 's/^  ([a-z]+) +(.*)/\1:\2/p')"} help)
		_describe command commands
	fi
	options=(${(f)"$(print -l -- $help | sed -nE 's/^ .* --([a-z-]+)[^ ]* +(.*)/--\1:\2/p')"})
	_describe -o option options
	;;
esac
