import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A script that completes commands, their options and fixed arguments. It defines `miner` if there is no such command. */
export function writeCompletion(shell: Shell, program: Command, programPath: string): string {
  const words = new Map(
    program.commands.map((command) => {
      const options = command.options.flatMap(({ long }) => long ?? []);
      const fixed = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
      return [command.name(), [...fixed, ...options, '--help'].join(' ')];
    }),
  );
  const names = [...words.keys()].join(' ');
  const start = `node --enable-source-maps '${programPath.replaceAll("'", "'\\''")}'`;
  const cases = (write: (words: string) => string) =>
    Array.from(words, ([name, listed]) => `    ${name}) ${write(listed)} ;;`).join('\n');
  switch (shell) {
    case 'bash':
      return `command -v miner >/dev/null || miner() { ${start} "$@"; }
_miner() {
  local words
  case "\${COMP_WORDS[1]}" in
${cases((listed) => `words='${listed}'`)}
  esac
  [ "$COMP_CWORD" -eq 1 ] && words='${names}'
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _miner miner
`;
    case 'zsh':
      return `(( $+commands[miner] )) || miner() { ${start} "$@"; }
_miner() {
  (( CURRENT == 2 )) && { compadd -- ${names}; return; }
  case $words[2] in
${cases((listed) => `compadd -- ${listed}`)}
  esac
  _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _miner miner
`;
    case 'fish':
      return `type -q miner; or function miner; ${start} $argv; end
complete -c miner -n __fish_use_subcommand -f -a '${names}'
${Array.from(words, ([name, listed]) => `complete -c miner -n '__fish_seen_subcommand_from ${name}' -a '${listed}'`).join('\n')}
`;
  }
}
