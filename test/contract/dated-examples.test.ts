// Examples that name a time work in whatever year a gateway starts, and for as long as it may well run.
import { afterEach, describe, expect, it } from 'vitest'
import { exampleMandate } from '../../tools/example-mandate.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { at } from '../support/tree.ts'

const DAY_MS = 24 * 3600 * 1000

let gw: TestGateway | undefined
afterEach(async () => {
  await gw?.close()
  gw = undefined
})

type Body = Record<string, unknown>

/** Of one operation, as `/openapi.json` shows them. */
async function examplesOf(path: string): Promise<Body[]> {
  const { body } = await gw!.rest('GET', '/openapi.json')
  const shown = at(body, 'paths', path, 'post', 'requestBody', 'content', 'application/json', 'examples')
  return Object.values(shown as Record<string, { value: Body }>).map(({ value }) => value)
}

describe('the examples of action permits', () => {
  it.each(['2026-11-21', '2027-01-01', '2031-07-01'])(
    "work on %s and 88 days later, with a credential of one's own",
    async (day) => {
      const clock = { now: Date.parse(day) + 12_345_678 }
      gw = await startTestGateway({ now: () => clock.now })
      const stored = await gw.rest('POST', '/v1/egress/credentials', {
        provider: 'github',
        label: 'issues bot',
        secret: 'upstream-secret-1',
        path_prefixes: ['/'],
        methods: ['POST'],
      })
      const credential_id: string = stored.body.credential_id
      const [mandate] = await examplesOf('/v1/actions/mandates')
      const [permit] = await examplesOf('/v1/actions/permits')
      for (const days of [0, 88]) {
        clock.now += days * DAY_MS
        const created = await gw.rest('POST', '/v1/actions/mandates', { ...mandate, credential_id })
        expect(created, created.text).toMatchObject({ status: 201 })
        const prepared = await gw.rest('POST', '/v1/actions/permits', {
          ...permit,
          credential_id,
          mandate: { ...(permit!['mandate'] as Body), credential_id },
        })
        expect(prepared, prepared.text).toMatchObject({ status: 201, body: { state: 'ready' } })
      }
    },
  )

  it('expire on a whole day, never more than 90 days ahead', () => {
    for (let now = Date.parse('2026-01-01'); now < Date.parse('2028-12-31'); now += 7.3 * DAY_MS) {
      const ahead = Date.parse(exampleMandate(now).expires_at) - now
      expect(ahead).toBeGreaterThan(89 * DAY_MS)
      expect(ahead).toBeLessThanOrEqual(90 * DAY_MS)
    }
  })
})
