// Decides which language a text is in: what was declared, unless the script or a detector that is sure says otherwise.
import { franc } from 'franc'
import type { ExtractedDocument } from '../../../schemas/document.ts'

type LanguageSource = NonNullable<ExtractedDocument['language_source']>
export type Language = Pick<ExtractedDocument, 'language' | 'language_source'>

const MAX_TAG_CHARACTERS = 35
const MIN_SAMPLE_CHARACTERS = 60
const SAMPLE_CHARACTERS = 600

/** Languages of one script each: what is declared must be among them, or the declaration is a left-over of a template. */
const SCRIPTS: readonly (readonly [pattern: RegExp, languages: readonly string[]])[] = [
  [/\p{Script=Arabic}/gu, ['ar', 'fa', 'ur', 'ps', 'ckb', 'ku', 'ug', 'sd', 'ks', 'pnb', 'arz', 'ary', 'az', 'ms', 'uz']],
  [/\p{Script=Cyrillic}/gu, ['ru', 'uk', 'bg', 'sr', 'mk', 'be', 'kk', 'ky', 'mn', 'tg', 'tt', 'uz', 'bs', 'ab', 'os', 'cv', 'ba']],
  [/\p{Script=Hebrew}/gu, ['he', 'iw', 'yi']],
  [/\p{Script=Greek}/gu, ['el', 'grc']],
  [/\p{Script=Thai}/gu, ['th']],
  [/\p{Script=Hangul}/gu, ['ko']],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, ['ja']],
  [/\p{Script=Han}/gu, ['zh', 'ja', 'yue', 'ko']],
  [/\p{Script=Devanagari}/gu, ['hi', 'mr', 'ne', 'sa', 'kok']],
] // prettier-ignore

/** ISO 639-3 of the detector as BCP 47, for languages it can be believed about. */
const TAGS: Readonly<Record<string, string>> = {
  arb: 'ar', eng: 'en', deu: 'de', fra: 'fr', spa: 'es', ita: 'it', por: 'pt', nld: 'nl', pol: 'pl', rus: 'ru', ukr: 'uk', tur: 'tr',
  swe: 'sv', dan: 'da', fin: 'fi', hun: 'hu', ces: 'cs', ron: 'ro', ell: 'el', heb: 'he', hin: 'hi', jpn: 'ja', kor: 'ko', cmn: 'zh',
  vie: 'vi', ind: 'id', pes: 'fa', urd: 'ur', bul: 'bg', srp: 'sr', hrv: 'hr', tha: 'th',
} // prettier-ignore

/** Letters of Persian, Urdu and their kin that Arabic does not write. */
const NOT_ARABIC = /[پچژگٹڈڑںےڤکی]/g

/** The language as a BCP 47 tag and where it is known from; both null where it is not known. */
export function detectLanguage({
  declared,
  text,
}: {
  /** Declarations in the order of trust. */
  declared: readonly (readonly [tag: string | null | undefined, source: LanguageSource])[]
  text: string
}): Language {
  const sample = sampleOf(text)
  const possible = languagesOfScript(sample)
  for (const [value, source] of declared) {
    const tag = value?.split(',')[0]?.trim().replaceAll('_', '-')
    if (!tag || tag.length > MAX_TAG_CHARACTERS || !/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i.test(tag)) continue
    if (possible !== undefined && !possible.includes(tag.replace(/-.*$/, '').toLowerCase())) continue
    return { language: tag, language_source: source }
  }
  const detected = detect(sample, possible)
  return { language: detected, language_source: detected === null ? null : 'text' }
}

function detect(sample: string, possible: readonly string[] | undefined): string | null {
  if (possible?.length === 1) return possible[0] ?? null
  if (sample.length < MIN_SAMPLE_CHARACTERS) return isPlainArabic(sample, possible) ? 'ar' : null
  const tag = TAGS[franc(sample, { minLength: MIN_SAMPLE_CHARACTERS })]
  if (tag !== undefined && (possible === undefined || possible.includes(tag)))
    return tag === 'ar' && !isPlainArabic(sample, possible) ? null : tag
  return isPlainArabic(sample, possible) ? 'ar' : null
}

const isPlainArabic = (sample: string, possible: readonly string[] | undefined) =>
  possible?.[0] === 'ar' && (sample.match(NOT_ARABIC)?.length ?? 0) * 50 < sample.length

/** The sample is from the middle, where menus and bylines are far. */
function sampleOf(text: string): string {
  const start = Math.max(0, Math.floor((text.length - SAMPLE_CHARACTERS) / 2))
  return text.slice(start, start + SAMPLE_CHARACTERS)
}

/** Undefined where the script leaves it open, as Latin does. */
function languagesOfScript(sample: string): readonly string[] | undefined {
  const letters = sample.match(/\p{L}/gu)?.length ?? 0
  if (letters < 20) return undefined
  for (const [pattern, languages] of SCRIPTS)
    if ((sample.match(pattern)?.length ?? 0) > letters * (languages[0] === 'ja' ? 0.1 : 0.5)) return languages
  return undefined
}
