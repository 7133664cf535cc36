# SPDX-License-Identifier: GPL-2.0
# bash completion of twheelctl(1)                            -*- shell-script -*-

_twheelctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command='' words='--json --proc --help --usage --version' i
	COMPREPLY=()

	# bash splits an option at its =, so the value is a word of its own
	[[ $cur != = ]] || cur=''
	[[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		info | start | stat | top | list | bench | watch)
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	case $prev in
	--proc | --input)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--clock) words='monotonic boottime' ;;
	--sort) words='rate pending unread' ;;
	--tick) words='100us 1ms 10ms' ;;
	--interval | --delay) words='500ms 1s 5s' ;;
	--time) words='100ms 1s 10s' ;;
	--count | --rows | --timers) words='' ;;
	*)
		case $command in
		'') words="info start stat top list bench watch help $words" ;;
		start) words="1s 5s 1min --repeat --count --tick --clock $words" ;;
		stat) words="--prometheus --cpus --interval --count $words" ;;
		top) words="--delay --count --once --sort --no-cpus $words" ;;
		bench) words="--timers --time $words" ;;
		watch) words="--time --rows --input $words" ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _twheelctl twheelctl
