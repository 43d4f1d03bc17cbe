// Words without which a text holds no instruction that is looked for (policy/injection.ts), in ASCII and in either case.

const after = (start: string, ends: string): string[] => ends.split(' ').map((end) => `${start} ${end}`)

export const GATE_WORDS: readonly string[] = [
  ...'ignor disregard forget override bypass vergiss oublie olvida'.split(' '),
  ...'system assistant developer prompt instruction anweisung jailbreak'.split(' '),
  'you are now',
  '<',
  '[inst',
  'reveal',
  ...after('do not', 'tell inform ask mention'),
  ...after('without', 'asking telling confirm'),
  'data:',
]
