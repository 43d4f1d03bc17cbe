// Decides whether two titles announce the same thing. A changed word may change everything ("Episode 12", "beats",
// "misses"), so only differences that change nothing count as none: spelling, little words, a label in front, the name of
// the site.

export interface TitleKey {
  readonly tokens: readonly string[]
  /** The words but the little ones, in their order: "Dog bites man" is not "Man bites dog". */
  readonly content: string
}

const MAX_TOKENS = 60
const MIN_TOKENS_EQUAL = 3
const MIN_TOKENS_NEAR = 5
const MIN_SIMILARITY = 0.6
const MIN_STEM_CHARACTERS = 4

const LITTLE = new Set(
  'a an the and of to in on at for with by from as is are its it now just new breaking exclusive live video watch update updated report opinion analysis der die das und von im in den le la les des du et de el los las y un une una il lo e'.split(
    ' ',
  ),
)

/** @param siteNames titles of the feeds: what sites hang on to their titles */
export function createTitleKeys(siteNames: readonly string[]): (title: string) => TitleKey {
  const sites = new Set(siteNames.map((name) => tokenise(name).join(' ')).filter((name) => name !== ''))
  return (title) => {
    const end = /\s[|–—·-]\s[^|–—·]*$/.exec(title)?.index
    const hasSite = end !== undefined && sites.has(tokenise(title.slice(end)).join(' '))
    const tokens = tokenise(hasSite ? title.slice(0, end) : title)
      .slice(0, MAX_TOKENS)
      .map(toStem)
    return { tokens, content: tokens.filter((token) => !LITTLE.has(token)).join(' ') }
  }
}

/** Words as they are compared: folded case, marks, Arabic spellings; scripts without spaces by character. */
function tokenise(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(/[\p{M}\u0640]/gu, '')
    .toLowerCase()
    .replace(/[أإآٱ]/g, 'ا')
    .replace(/ى/g, 'ي')
    .replace(/ة/g, 'ه')
    .normalize('NFC')
  return (
    folded.match(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}])+(?:[.'’](?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}])+)*/gu,
    ) ?? []
  ).map((token) => token.replace(/['’]s?$|['’]/g, ''))
}

/** `releases`, `released` and `release` are one word. Numbers have no other forms, and short words too many. */
function toStem(token: string): string {
  const stem = token.replace(/(?:ing|ed|es|s|e)$/, '')
  return stem.length >= MIN_STEM_CHARACTERS && !/\p{N}/u.test(token) && !LITTLE.has(token) ? stem : token
}

/** Whether two titles announce the same thing. */
export function isSameTitle(a: TitleKey, b: TitleKey): boolean {
  if (a.content !== b.content) return false
  const shorter = Math.min(a.tokens.length, b.tokens.length)
  if (shorter < MIN_TOKENS_EQUAL) return false
  if (a.tokens.length === b.tokens.length && a.tokens.every((token, i) => token === b.tokens[i])) return true
  if (shorter < MIN_TOKENS_NEAR) return false
  return similarity(a, b) >= MIN_SIMILARITY
}

/** Jaccard over pairs of neighbouring words, so that order counts, and over words, so that one change is not three. */
function similarity(a: TitleKey, b: TitleKey): number {
  return Math.max(
    jaccard(toShingles(a.tokens), toShingles(b.tokens)),
    jaccard(new Set(a.tokens), new Set(b.tokens)),
  )
}

const toShingles = (tokens: readonly string[]) =>
  new Set(tokens.slice(1).map((token, i) => `${tokens[i]} ${token}`))

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const key of a) if (b.has(key)) shared++
  return shared / (a.size + b.size - shared)
}
