// Folded words -> what they are looked up by: light stems of Arabic and English, and words that say nothing.
// Light on purpose: a stem that is too short finds what nobody asked for.

const ARABIC = /^[\u0621-\u064a]+$/
const ENGLISH = /^[a-z]+$/

/** The stem of a folded word, light enough to keep meanings apart. */
export function stemOf(word: string): string {
  if (ENGLISH.test(word)) return stemEnglish(word)
  return ARABIC.test(word) ? stemArabic(word) : word
}

const PREFIXES = ['وال', 'بال', 'كال', 'فال', 'لل', 'ال', 'و']
const SUFFIXES = ['ها', 'ان', 'ات', 'ون', 'ين', 'يه', 'ه', 'ي']
/** Arabic roots have three letters. */
const MIN_ARABIC = 3

/** One article with its conjunction from the front, one ending from the back. */
function stemArabic(word: string): string {
  const prefix = PREFIXES.find((each) => word.startsWith(each) && word.length - each.length >= MIN_ARABIC)
  const bare = prefix === undefined ? word : word.slice(prefix.length)
  const suffix = SUFFIXES.find((each) => bare.endsWith(each) && bare.length - each.length >= MIN_ARABIC)
  return suffix === undefined ? bare : bare.slice(0, -suffix.length)
}

/** Plural, -ing, -ed and a silent e: `prices`, `priced` and `pricing` are one. */
function stemEnglish(word: string): string {
  const stem = dropEnding(dropPlural(word))
  if (stem.length > 4 && stem.endsWith('e')) return stem.slice(0, -1)
  return stem.length > 3 && /[^aeiou]y$/.test(stem) ? `${stem.slice(0, -1)}i` : stem
}

function dropPlural(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || /(?:ss|us|is)$/.test(word)) return word
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return /(?:ss|sh|ch|x|zz)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1)
}

function dropEnding(word: string): string {
  const ending = ['ing', 'ed'].find((each) => word.endsWith(each))
  if (ending === undefined || word.endsWith('eed')) return word
  const stem = word.slice(0, -ending.length)
  if (stem.length < 3 || !/[aeiouy]/.test(stem)) return word
  return /([bdfgmnprt])\1$/.test(stem) ? stem.slice(0, -1) : stem
}

/** Folded words that are in every text and in most questions. */
const STOPWORDS = new Set(
  (
    'a about an and any are as at be been but by can could did do does for from had has have how i if in into is it its ' +
    'me my no not of on or our s shall should so than that the their them then there these they this those to us was we ' +
    'were what when where which who whose why will with would you your please tell show find give ' +
    'في من علي الي عن مع هذا هذه ذلك تلك التي الذي الذين ان انه انها او ام ثم قد لقد كان كانت يكون هل ما ماذا متي اين كيف ' +
    'لماذا كم هو هي هم هما نحن انا انت لا لم لن ليس كل بعض عند بعد قبل حتي اذا اي و يا بين غير كما لكن به بها له لها فيه فيها ' +
    'عليه عليها منه منها شو ايش وش ليش فين وين'
  ).split(' '),
)

/** Whether a folded word says nothing by itself. */
export const isStopword = (word: string): boolean => STOPWORDS.has(word)
