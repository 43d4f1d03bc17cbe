// The price of a gate that finds pieces is what it takes for one by mistake: over 100,000 ordinary answers, for random secrets, nothing.
import { expect, it } from 'vitest'
import { createBudget } from '../../src/egress/leak/budget.ts'
import { createLeakSearch } from '../../src/egress/leak/search.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createRandom, ordinaryAnswer, randomSecret } from '../support/ordinary-answers.ts'

const ANSWERS = 100_000
/** Each answer is searched for a few secrets, each secret in a few hundred answers. */
const SECRETS_AT_ONCE = 4
const ANSWERS_PER_SECRETS = 200

it(
  'of 100,000 ordinary answers none is taken for one that holds a random secret',
  { timeout: 1_200_000 },
  () => {
    const random = createRandom('ordinary answers')
    const mistaken: string[] = []
    for (let answer = 0; answer < ANSWERS;) {
      const sought = Array.from({ length: SECRETS_AT_ONCE }, () => randomSecret(random))
      const searches = sought.map(({ secret, scheme }) =>
        createLeakSearch({ secrets: [new Secret(secret)], scheme }),
      )
      for (let i = 0; i < ANSWERS_PER_SECRETS; i++, answer++) {
        const body = ordinaryAnswer(random)
        const headers = [
          { name: 'content-type', value: 'application/json' },
          { name: 'x-request-id', value: random.bytes(16).toString('hex') },
          { name: 'etag', value: `W/"${random.bytes(32).toString('base64')}"` },
        ]
        for (const [which, search] of searches.entries()) {
          const verdict = search.inspect({ statusText: 'OK', headers, body }, createBudget(1e9))
          if (!verdict.ok)
            mistaken.push(`answer ${answer}, ${verdict.where}, ${verdict.encoding}, ${sought[which]?.secret}`)
        }
      }
    }
    expect(mistaken).toEqual([])
  },
)
