// Code in a page with its comments, texts and words of the language told apart. It guesses by one pattern for all languages that guides
// are written in; what it does not know it leaves as it is. For our own code: a stranger's could keep the pattern busy.
import type { ComponentChild } from 'preact'

/** Longer programs are shown as they are: nobody reads them for their colours. */
const MAX_CHARACTERS = 20_000

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
const HASHES = String.raw`(?<![\S])#.*`
const SLASHES = String.raw`(?<![:\S])//.*|/\*[^]*?\*/`

const PATTERNS: Readonly<Record<string, RegExp>> = {
  ts: pattern(
    `${SLASHES}`,
    `${STRING}|\`(?:[^\`\\\\]|\\\\.)*\``,
    'as async await break case catch class const continue else export for from function if import in interface let new null of return throw true false try type typeof while',
  ),
  python: pattern(
    HASHES,
    STRING,
    'and as def elif else except False for from if import in is None not or raise return True try while with',
  ),
  sh: pattern(HASHES, STRING, 'export if then fi for do done eval'),
  json: pattern(SLASHES, STRING, 'true false null'),
  toml: pattern(HASHES, STRING, 'true false'),
}
const ALIASES: Readonly<Record<string, string>> = {
  js: 'ts',
  jsonc: 'json',
  bash: 'sh',
  py: 'python',
  typescript: 'ts',
}

function pattern(comment: string, text: string, words: string): RegExp {
  return new RegExp(
    `(?<comment>${comment})|(?<text>${text})|(?<word>\\b(?:${words.replaceAll(' ', '|')})\\b)`,
    'g',
  )
}

/** The code in pieces, those that mean something in elements of their own. */
export function highlight(text: string, language: string | undefined): ComponentChild[] {
  const known = language === undefined ? undefined : PATTERNS[ALIASES[language] ?? language]
  if (!known || text.length > MAX_CHARACTERS) return [text]
  const pieces: ComponentChild[] = []
  let from = 0
  for (const { 0: piece, index, groups } of text.matchAll(known)) {
    if (index > from) pieces.push(text.slice(from, index))
    const kind = groups?.['comment'] ? 'comment' : groups?.['text'] ? 'text' : 'word'
    pieces.push(<span class={`code-${kind}`}>{piece}</span>)
    from = index + piece.length
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}
