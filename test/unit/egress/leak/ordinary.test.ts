// A sample of test/long/leak-ordinary.test.ts, with another seed.
import { expect, it } from 'vitest'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { createLeakSearch } from '../../../../src/egress/leak/search.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { createRandom, ordinaryAnswer, randomSecret } from '../../../support/ordinary-answers.ts'

it('takes none of 600 ordinary answers for one that holds a random secret, and finds each secret in one of them', () => {
  const random = createRandom('a sample')
  for (let round = 0; round < 20; round++) {
    const { secret, scheme } = randomSecret(random)
    const search = createLeakSearch({ secrets: [new Secret(secret)], scheme })
    const inspect = (body: Buffer) =>
      search.inspect({ statusText: 'OK', headers: [], body }, createBudget(1e9))
    for (let i = 0; i < 30; i++) expect(inspect(ordinaryAnswer(random)), secret).toEqual({ ok: true })
    const value = JSON.stringify({ ok: true, echo: secret.slice(0, -1), page: 1 })
    expect(inspect(Buffer.concat([ordinaryAnswer(random), Buffer.from(value)])), secret).toMatchObject({
      ok: false,
    })
  }
})
