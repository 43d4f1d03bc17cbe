// Which of many words a text holds, in one pass over it, however many there are (Aho and Corasick). Letters count in either case.

export interface Held {
  /** Nothing in it is beyond U+007F. */
  readonly isAscii: boolean
  /** @param word one of those that are looked for */
  has(word: string): boolean
  /** The same, of a word whose number was asked for before: for who asks about many. */
  hasNumbered(number: number): boolean
}

export interface WordFinder {
  (text: string): Held
  /** @param word one of those that are looked for */
  numberOf(word: string): number
}

const ASCII = 128

/** @param words of ASCII; the same one may be there twice, in other letters too */
export function createWordFinder(words: readonly string[]): WordFinder {
  const folded = [...new Set(words.map(fold))]
  const ids = new Map(words.map((word) => [word, folded.indexOf(fold(word))]))
  const { classes, width } = classify(folded)
  const { next, ends } = link(folded, classes, width)
  const numberOf = (word: string) => ids.get(word)!
  const find = (text: string): Held => {
    const found = new Uint8Array(folded.length)
    let all = 0
    let state = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      all |= code
      state = next[state + (code < ASCII ? classes[code]! : 0)]!
      if (state >= 0) continue
      state = -state
      for (const id of ends.get(state)!) found[id] = 1
    }
    return {
      isAscii: all < ASCII,
      has: (word) => found[numberOf(word)] === 1,
      hasNumbered: (number) => found[number] === 1,
    }
  }
  return Object.assign(find, { numberOf })
}

const fold = (word: string): string => word.toLowerCase()

/** Characters of the words are numbered, and all others are one: rows of the table are short. */
function classify(words: readonly string[]): { readonly classes: Uint8Array; readonly width: number } {
  const classes = new Uint8Array(ASCII)
  let width = 1
  for (const char of new Set(words.join(''))) {
    classes[char.charCodeAt(0)] = width
    classes[char.toUpperCase().charCodeAt(0)] = width
    width++
  }
  return { classes, width }
}

/** States are offsets of their rows; one in which a word ends is written negative, and `ends` has the words. */
function link(words: readonly string[], classes: Uint8Array, width: number) {
  const next = new Int32Array((1 + words.join('').length) * width)
  const ends = new Map<number, number[]>()
  let rows = 1
  for (const [id, word] of words.entries()) {
    let state = 0
    for (let i = 0; i < word.length; i++) {
      const at = state + classes[word.charCodeAt(i)]!
      if (next[at] === 0) next[at] = width * rows++
      state = next[at]!
    }
    ends.set(state, [id])
  }
  // Breadth first: what is nearer to the beginning is complete.
  const queue = [0]
  const back = new Map<number, number>()
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head]!
    const fallback = back.get(state) ?? 0
    for (let step = 1; step < width; step++) {
      const child = next[state + step]!
      const behind = state === 0 ? 0 : Math.abs(next[fallback + step]!)
      if (child === 0) next[state + step] = state === 0 ? 0 : next[fallback + step]!
      else {
        queue.push(child)
        back.set(child, behind)
        const inner = ends.get(behind)
        if (inner !== undefined) ends.set(child, [...(ends.get(child) ?? []), ...inner])
        if (ends.has(child)) next[state + step] = -child
      }
    }
  }
  return { next, ends }
}
