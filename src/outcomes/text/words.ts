// Folded text -> what is counted and compared: words, and pairs of characters where a script has no spaces.
import { foldText } from './fold.ts'

// Most words are, and the test is cheap.
const ASCII = /^[a-z\d]+$/
const RUN = /[\p{L}\p{N}\p{M}]+/gu
const UNSPACED_SCRIPTS =
  String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}` +
  String.raw`\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`
const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u')
const PIECE = new RegExp(`[${UNSPACED_SCRIPTS}]+|[^${UNSPACED_SCRIPTS}]+`, 'gu')
/** Nobody looks for more of a word than this. */
const MAX_WORD = 64

/** Folded words in order. `東京都` is `東京`, `京都`; a character alone stands for itself. */
export function wordsOf(text: string): string[] {
  const runs = foldText(text).match(RUN) ?? []
  const words: string[] = []
  for (const run of runs) {
    if (ASCII.test(run) || !UNSPACED.test(run)) words.push(run.slice(0, MAX_WORD))
    else for (const [piece] of run.matchAll(PIECE)) addPiece(piece, words)
  }
  return words
}

function addPiece(piece: string, words: string[]): void {
  if (!UNSPACED.test(piece)) {
    words.push(piece.slice(0, MAX_WORD))
    return
  }
  let before: string | undefined
  let isAlone = true
  for (const character of piece) {
    if (before !== undefined) {
      words.push(before + character)
      isAlone = false
    }
    before = character
  }
  if (isAlone && before !== undefined) words.push(before)
}
