// A permit that this process prepared is executed without reading its row first. Whatever is wrong, with the permit, the request
// or both at once, its holder is told the same as by the row.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ActionsClient, type Body, createActionsClient } from '../support/actions.ts'
import { ENGINES, type RestAnswer, startTestGateway, type TestGateway } from '../support/gateway.ts'

interface Prepared {
  readonly permit: string
  readonly permit_id: string
  readonly mandate_id: string
}

describe.each(ENGINES)('a permit that was prepared here and one that is looked up (%s)', (engine) => {
  let gw: TestGateway
  let ahead = 0
  const now = () => Date.now() + ahead
  beforeAll(async () => {
    gw = await startTestGateway({ engine, now })
  })
  afterAll(() => gw.close())
  beforeEach(() => {
    ahead = 0
  })

  type Change = (own: ActionsClient, prepared: Prepared) => unknown
  const CHANGES: readonly (readonly [string, Change])[] = [
    ['nothing happened', () => {}],
    ['the mandate was revoked', (_own, { mandate_id }) => post(`actions/mandates/${mandate_id}/revoke`)],
    ['the credential was revoked', ({ credentialId }) => post(`egress/credentials/${credentialId}/revoke`)],
    [
      'the secret was replaced',
      ({ credentialId }) =>
        post(`egress/credentials/${credentialId}/rotate`, { secret: 'upstream-secret-2' }),
    ],
    ['its time is over', () => void (ahead = 301_000)],
    ['it was executed', (own, { permit }) => own.execute(permit)],
    [
      'it was executed and the mandate revoked',
      async (own, { permit, mandate_id }) => {
        await own.execute(permit)
        await post(`actions/mandates/${mandate_id}/revoke`)
      },
    ],
  ]
  const REQUESTS: readonly (readonly [string, Body])[] = [
    ['the same request', {}],
    ['another body', { body: '{"sku":"tea","count":3}' }],
    ['another method', { method: 'GET', body: undefined }],
    ['another path', { url: 'https://api.example.com/v2' }],
    ['a URL that nobody may ask for', { url: 'https://127.0.0.1/' }],
    ['a URL that is none', { url: 'https://a b/' }],
    ['a header that nobody may send', { headers: { authorization: 'x' } }],
    ['two bodies', { body_base64: 'YQ==' }],
  ]
  const post = (path: string, body: Body = {}) => gw.rest('POST', `/v1/${path}`, body)

  const CASES = CHANGES.flatMap(([happened, change]) =>
    REQUESTS.map(([asked, request]): [string, string, Change, Body] => [happened, asked, change, request]),
  )
  it.each(CASES)('%s, %s: the answer is the same', async (_happened, _asked, change, request) => {
    const answers: unknown[] = []
    for (const isKnown of [true, false]) {
      ahead = 0
      const own = await createActionsClient(gw, gw.url)
      const prepared = await own.prepare()
      if (!isKnown) await showOnce(own, prepared.permit)
      await change(own, prepared)
      const sent = gw.upstream.requests.length
      const answer = await own.execute(prepared.permit, own.request(request))
      answers.push({ ...told(answer), sent: gw.upstream.requests.length - sent })
    }
    expect(answers[0]).toEqual(answers[1])
  })

  it('is looked up after a refusal that did not use it up', async () => {
    const own = await createActionsClient(gw, gw.url)
    const { permit } = await own.prepare()
    await showOnce(own, permit)
    expect((await own.execute(permit)).status).toBe(200)
  })
})

/** From here on the process has only the row of it. */
async function showOnce(own: ActionsClient, permit: string): Promise<void> {
  const refused = await own.execute(permit, own.request({ body: 'never' }))
  expect([refused.status, refused.body.code]).toEqual([409, 'permit_mismatch'])
}

const told = ({ status, body }: RestAnswer) => ({
  status,
  code: body.code,
  conflict: body.conflict,
  why: body.why,
  differs: body.differs,
  namesPermit: typeof body.permit_id,
  namesAttempt: typeof body.attempt_id,
  charged: body.credits?.charged,
  // Ids differ; the words do not.
  detail: body.detail?.replaceAll(/\b[a-z]+_[0-9a-z]{35}\b/g, 'id'),
})

describe('the operator’s brake', () => {
  it('comes behind what is said of the permit, prepared here or not', async () => {
    const gw = await startTestGateway()
    try {
      const own = await createActionsClient(gw, gw.url)
      const [used, fresh] = [await own.prepare(), await own.prepare()]
      expect((await own.execute(used.permit)).status).toBe(200)
      const directory = gw.env['GATEWAY_DATA_DIR']!
      await mkdir(directory, { recursive: true })
      await writeFile(
        join(directory, 'egress-policy.json'),
        JSON.stringify({ denied_hosts: [], paused: true }),
      )
      const another = async () => own.execute((await own.prepare()).permit)
      await expect.poll(async () => (await another()).body.code).toBe('egress_paused')
      expect((await own.execute(used.permit)).body.code).toBe('permit_used')
      expect((await own.execute(fresh.permit, own.request({ body: 'never' }))).body.code).toBe(
        'permit_mismatch',
      )
      expect((await own.execute(fresh.permit)).body.code).toBe('egress_paused')
    } finally {
      await gw.close()
    }
  })
})
