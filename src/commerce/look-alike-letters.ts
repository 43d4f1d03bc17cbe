// Letters that look like Latin ones: a choice of the confusables of UTS 39, small letters alone, since names have no capitals.

const pairs = (text: string): [string, string][] =>
  text.split(' ').flatMap((pair) => {
    const [letter = '', ...likes] = [...pair].toReversed()
    return likes.map((like): [string, string] => [like, letter])
  })

/** Every letter before the last of a group looks like the last: `аa` is the Cyrillic and the Latin one. */
const SAME = pairs('аαa сϲc ԁd еe һհh іιi јϳj оοօo рρp ԛզq ѕs ԝw хχx уүυy νѵv ӏl κk սu ոn ցg')

/** Those that nobody tells apart, in any type face. */
export const STRONG: ReadonlySet<string> = new Set(SAME.map(([like]) => like))

/** The same, and those that look alike at a glance. */
export const LETTERS: ReadonlyMap<string, string> = new Map([
  ...SAME,
  ...pairs('кk мm тτt нηh вβьb гr пռn ωw γy εe зэ3 ɑa ɡg ƅb łʟl øo đðd ħh ıɪi ȷj ŋn ƒf þp ʀr ɴn ʏy ßβb'),
])

/** Written one after another, in this order. */
export const SHAPES: readonly (readonly [string, string])[] = [
  ['rn', 'm'],
  ['vv', 'w'],
  ['cl', 'd'],
  ['0', 'o'],
  ['1', 'l'],
  ['i', 'l'],
]

/** Endings under which Cyrillic, Greek and Armenian names are ordinary although they are ASCII themselves. */
export const ORDINARY_TLDS: ReadonlySet<string> = new Set(
  'ru su ua by bg kz kg mk rs mn me ba tj uz md gr cy am'.split(' '),
)
