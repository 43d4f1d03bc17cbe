// The price of a gate that finds pieces is what it takes for one by mistake: over 100,000 ordinary answers, for random secrets, nothing.
import { expect, it } from 'vitest'
import { createBudget } from '../../src/egress/leak/budget.ts'
import { createLeakSearch } from '../../src/egress/leak/search.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createRandom, ordinaryAnswer, type Random, randomSecret } from '../support/ordinary-answers.ts'

const ANSWERS = 100_000
/** Each answer is searched for a few secrets, each secret in a few hundred answers. */
const SECRETS_AT_ONCE = 4
const ANSWERS_PER_SECRETS = 200

/** A search for secrets of one scheme, that of the first, as for one that was rotated: an answer is read once, and not once for each. */
function createSearch(random: Random) {
  const { scheme, secret } = randomSecret(random)
  const texts = [secret]
  while (texts.length < SECRETS_AT_ONCE) {
    const another = randomSecret(random)
    if (another.scheme === scheme) texts.push(another.secret)
  }
  return { texts, search: createLeakSearch({ secrets: texts.map((text) => new Secret(text)), scheme }) }
}

it(
  'of 100,000 ordinary answers none is taken for one that holds a random secret',
  { timeout: 1_200_000 },
  () => {
    const random = createRandom('ordinary answers')
    const mistaken: string[] = []
    const missed: string[] = []
    for (let answer = 0; answer < ANSWERS;) {
      const { texts, search } = createSearch(random)
      for (let i = 0; i < ANSWERS_PER_SECRETS; i++, answer++) {
        const body = ordinaryAnswer(random)
        const headers = [
          { name: 'content-type', value: 'application/json' },
          { name: 'x-request-id', value: random.bytes(16).toString('hex') },
          { name: 'etag', value: `W/"${random.bytes(32).toString('base64')}"` },
        ]
        const verdict = search.inspect({ statusText: 'OK', headers, body }, createBudget(1e9))
        if (!verdict.ok) mistaken.push(`answer ${answer}, ${verdict.where}, ${verdict.encoding}, ${texts}`)
      }
      // Whoever finds nothing in any answer makes no mistake either.
      for (const text of texts) {
        const body = Buffer.from(JSON.stringify({ echo: text }))
        if (search.inspect({ statusText: 'OK', headers: [], body }, createBudget(1e9)).ok) missed.push(text)
      }
    }
    expect(mistaken).toEqual([])
    expect(missed).toEqual([])
  },
)
