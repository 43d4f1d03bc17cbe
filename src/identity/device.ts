// A word for the device, of a few that we know: what a browser says of itself is anybody's text.
const NAMES: Readonly<Record<string, string>> = {
  Edg: 'Edge',
  OPR: 'Opera',
  Macintosh: 'Mac',
  CrOS: 'ChromeOS',
}

/** @returns browser and system, in words of ours alone */
export function deviceOf({ userAgent }: { readonly userAgent: string }): string {
  const system = /iPhone|iPad|Android|Windows|Macintosh|CrOS|Linux/.exec(userAgent)?.[0]
  // Every one of them says Safari, and most Chrome.
  const browser = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'].find((name) => userAgent.includes(name))
  const words = [browser, system].flatMap((word) => (word === undefined ? [] : [NAMES[word] ?? word]))
  return words.length === 0 ? 'Unknown device' : words.join(', ')
}
