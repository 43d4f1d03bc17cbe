// Text as an index sees it: one form for spellings that readers take for the same. Never what is returned to anybody.

// Accents of Latin, Greek and Cyrillic; vowel signs, hamza and Quranic marks of Arabic; tatweel; soft joiners.
const MARKS = /[\u0300-\u036f\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u200c\u200d]/g
const LETTERS: Readonly<Record<string, string>> = {
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ة: 'ه',
  ۀ: 'ه',
  ک: 'ك',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ł: 'l',
  ı: 'i',
  ς: 'σ',
}
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')
/** Arabic-Indic and its eastern form. */
const DIGIT = /[\u0660-\u0669\u06f0-\u06f9]/g
// oxlint-disable-next-line no-control-regex -- every ASCII character is meant
const ASCII = /^[\u0000-\u007f]*$/

/**
 * Lower case, compatibility forms, no accents and vowel signs, one alef, one ya, one ha, ASCII digits.
 * Folding what is folded changes nothing.
 */
export function foldText(text: string): string {
  const lower = text.toLowerCase()
  if (ASCII.test(lower)) return lower
  // Decomposed, the hamza of أ, إ, ؤ and ئ and the madda of آ are marks like the others.
  return lower
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter)
    .replace(DIGIT, (digit) => String(digit.charCodeAt(0) & 0xf))
    .normalize('NFC')
}
