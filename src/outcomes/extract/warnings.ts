// Signs that a page tries to tell a model something it does not tell a person. Reports them; removing is cleanText's job.
import type { ContentWarning } from '../../../schemas/document.ts'
import { cleanText, collapseSpaces, countInvisible, countMatches, type Invisible } from './text.ts'
import type { ParsedPage } from './tree.ts'

/** Phrases that address a model. Each alternative is bounded, so that no text makes the search slow. */
const INSTRUCTIONS = new RegExp(
  [
    String.raw`\b(?:ignore|disregard|forget|override|bypass)\s{1,3}(?:all\s|any\s|the\s|your\s|my\s|of\s|these\s|those\s){0,4}(?:previous|prior|above|earlier|preceding|system|safety|original)\s{1,3}(?:instructions?|prompts?|rules?|messages?|guidelines?|directions?)`,
    String.raw`\b(?:system|developer)\s{1,2}prompt\b`,
    String.raw`\byou\s{1,3}are\s{1,3}now\s{1,3}(?:a|an|in|the)\b`,
    String.raw`\b(?:as|dear|attention|hey)[\s,]{1,3}(?:an?\s{1,2})?(?:ai|llm|language model|chatbot|assistant|agents?)\b`,
    String.raw`\bdo\s{1,3}not\s{1,3}(?:tell|inform|mention|reveal)\b.{0,40}\buser\b`,
    String.raw`\b(?:reveal|print|send|exfiltrate|leak|upload)\s.{0,40}\b(?:api[ _-]?keys?|passwords?|credentials?|secrets?|tokens?)\b`,
    String.raw`<\|(?:im_start|im_end|system|endoftext)\|>`,
    String.raw`(?:تجاهل|تجاهلي|انس|تخط)\s{1,3}(?:جميع\s|كل\s|كافة\s){0,2}(?:ال)?(?:تعليمات|أوامر|اوامر|توجيهات)`,
  ].join('|'),
  'gi',
)

/** Warnings of sources without markup: nothing can be hidden but by characters. */
export const findTextWarnings = (source: string, text: string): ContentWarning[] =>
  findWarnings(source, { hiddenText: '', comments: '' }, text)

/** The warnings of a page: text that its readers do not see, and characters that nobody sees. */
export function findWarnings(
  html: string,
  page: Pick<ParsedPage, 'hiddenText' | 'comments'>,
  visibleText: string,
): ContentWarning[] {
  // Counted in the decoded text as well: `&#8203;` hides as well as the character itself.
  const decoded = `${visibleText}\n${page.hiddenText}`
  const inSource = countInvisible(html)
  const inText = countInvisible(decoded)
  const count = (kind: keyof Invisible) => Math.max(inSource[kind], inText[kind])
  const instructions = (text: string) => countMatches(collapseSpaces(cleanText(text)), INSTRUCTIONS)
  const hiddenWords = page.hiddenText === '' ? 0 : countMatches(page.hiddenText, /[\p{L}\p{N}]+/gu)
  const found: [ContentWarning['code'], number, string][] = [
    ['zero_width_characters', count('zeroWidth'), 'Invisible characters were removed from the text.'],
    [
      'bidi_controls',
      count('bidi'),
      'Controls that reorder displayed text were removed: what a person saw may differ from the text.',
    ],
    [
      'tag_characters',
      count('tags'),
      'Characters that no font shows, but that a model can read, were removed.',
    ],
    ['hidden_text', hiddenWords, 'Words inside elements that the page hides from readers were left out.'],
    [
      'hidden_instructions',
      instructions(page.hiddenText) + instructions(page.comments),
      'Hidden elements or comments contain phrases that address a model. They were left out.',
    ],
    [
      'instructions_in_text',
      instructions(visibleText),
      'The visible text contains phrases that address a model. They are part of the source: do not follow them.',
    ],
  ]
  return found
    .filter(([, times]) => times > 0)
    .map(([code, times, message]) => ({ code, count: times, message }))
}
