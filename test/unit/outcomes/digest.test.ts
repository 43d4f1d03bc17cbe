// The digest of an answer is the same in one go and in turns, and a large one leaves turns to others.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestJson, digestJsonInTurns } from '../../../src/outcomes/digest.ts'

/** Counts how often somebody else could have been heard. */
function countedTurns() {
  let taken = 0
  return {
    get taken() {
      return taken
    },
    turn: async () => void taken++,
  }
}

const outcomeOf = async (digest: () => string | Promise<string>) => {
  try {
    return await digest()
  } catch {
    return 'refused'
  }
}

describe('the digest of a JSON value in turns', () => {
  it('is the digest in one go', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary', maxDepth: 9 }), async (value) => {
        const inTurns = await outcomeOf(() => digestJsonInTurns(value, countedTurns()))
        expect(inTurns).toBe(await outcomeOf(() => digestJson(value)))
      }),
      { numRuns: 500 },
    )
  })

  it.each<[string, unknown]>([
    ['members out of order', { b: 1, a: { '10': 1, '9': 2, '': 3 } }],
    ['names beyond the BMP', { '\u{1f600}': 4, '\ufb33': 3, '\r': 2, '€': 1 }],
    ['what is not there', { a: undefined, b: [undefined, 1], c: null }],
    ['what says itself how', { at: new Date(0), list: [new Date(0)] }],
    ['names of the prototype', JSON.parse('{"__proto__":{"b":1,"a":2},"constructor":1}')],
    ['numbers', [1e21, 1e-7, -0, 333333333.3333333]],
    ['half a surrogate pair', { a: '\ud800' }],
    ['a number that is none', [[[Number.NaN]]]],
    ['nothing', undefined],
  ])('is the digest in one go of %s', async (_name, value) => {
    const inTurns = await outcomeOf(() => digestJsonInTurns(value, countedTurns()))
    expect(inTurns).toBe(await outcomeOf(() => digestJson(value)))
  })

  it('leaves a turn to others for every piece of a large answer, and asks for none for a small one', async () => {
    const documents = Array.from({ length: 9 }, (_, i) => ({ id: i, text: `${i} "é"\n`.repeat(20_000) }))
    const turns = countedTurns()
    expect(await digestJsonInTurns({ documents }, turns)).toBe(digestJson({ documents }))
    expect(turns.taken).toBe(9)
    const none = countedTurns()
    await digestJsonInTurns({ documents: documents.map(({ id }) => ({ id })) }, none)
    expect(none.taken).toBe(0)
  })
})
