// What /v1/inspect says about a transaction, at the edge: sound ones arrive as they were sent, and what is denied is not
// forwarded or charged, whether or not the operator wrote a policy for the merchant's account.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BLOCKED,
  type Blocked,
  LIVE_MS,
  type MerchantRequest,
  requestOf,
  SOUND,
  toMerchant,
} from '../data/commerce/edge.ts'
import type { SampleSource } from '../support/commerce.ts'
import { startEdgeGateway, type EdgeGateway } from '../support/edge.ts'
import { UPSTREAM_HOST } from '../support/gateway.ts'
import { verifyJws } from '../../src/receipts/types.ts'

const PAYEE = '0x209693bc6afc0c5328ba36faf03c514ef312287c'
const START_MS = LIVE_MS

let edge: EdgeGateway
let nowMs = START_MS
beforeAll(async () => {
  edge = await startEdgeGateway({ now: () => nowMs, env: { GATEWAY_SERVICE_KEY_CREDITS: '1000' } })
})
afterAll(() => edge?.close())

async function write(document: unknown): Promise<void> {
  await writeFile(join(edge.dataDir, 'data', 'transaction-policy.json'), JSON.stringify(document))
  // Past what the reader of the policy remembers.
  nowMs += 1000
}

/** The account whose key published the record. */
const merchant = async (): Promise<string> => (await edge.rest('GET', '/v1/credits')).body.account_id

function payment(): string {
  const seconds = Math.floor(nowMs / 1000)
  const accepted = {
    scheme: 'exact',
    network: 'eip155:84532',
    amount: '10000',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: PAYEE,
    maxTimeoutSeconds: 60,
  }
  const authorization = {
    from: '0x857b06519e91e3a54538791bdbb0e22373e36b66',
    to: PAYEE,
    value: '10000',
    validAfter: String(seconds - 10),
    validBefore: String(seconds + 50),
    nonce: '0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480',
  }
  const document = {
    x402Version: 2,
    resource: { url: `https://${UPSTREAM_HOST}:${edge.upstream.port}/v1` },
    accepted,
    payload: { signature: `0x${'2d6a7588d6acca50'.repeat(8)}1c`, authorization },
  }
  return Buffer.from(JSON.stringify(document)).toString('base64')
}

const pay = () => edge.send(`${edge.merchant}/v1`, { headers: [['Payment-Signature', payment()]] })

async function findingsOf(answer: Awaited<ReturnType<typeof pay>>): Promise<unknown> {
  const keys = (await edge.rest('GET', '/.well-known/gateway-egress-key.json')).body
  const evidence = await verifyJws(answer.header('x-gateway-evidence')!, keys, 'gw-evidence+jws')
  if (!evidence.ok) throw new Error('not signed by this gateway')
  return (evidence.payload['inspection'] as { findings: unknown }).findings
}

const authority = () => `${UPSTREAM_HOST}:${edge.upstream.port}`
const send = ({ path, headers, body }: MerchantRequest) =>
  edge.send(`/edge/${authority()}${path}`, { headers, body })

describe('where nobody wrote a policy', () => {
  beforeAll(() => write({}))

  it.each<readonly [string, SampleSource]>(SOUND)('%s arrives as it was sent', async (_, source) => {
    const request = toMerchant(source, authority())
    const answer = await send(request)
    expect([answer.status, answer.body.toString()]).toEqual([200, '{"ok":true}'])
    const last = edge.upstream.requests.at(-1)!
    expect(last.target).toBe(request.path)
    expect(last.body.equals(request.body)).toBe(true)
    for (const [name, value] of request.headers)
      expect(last.headers).toContainEqual([name.toLowerCase(), value])
  })

  it.each<[string, string, Blocked]>(BLOCKED.map((one) => [one.code, one.when, one]))(
    '%s is a 403 that says so, and nothing is sent or charged: %s',
    async (code, _, one) => {
      const before = [edge.upstream.connections, edge.upstream.requests.length]
      const balance = await edge.balance()
      const request = requestOf(one, authority())
      const answer = await send(request)
      expect([answer.status, answer.problem.code]).toEqual([403, 'transaction_blocked'])
      const rules: string[] = answer.problem.findings.map(({ rule }: { rule: string }) => rule)
      expect(rules).toContain(code)
      // In the log, and nothing of what was sent.
      expect(edge.log().trim().split('\n').at(-1)).toContain(`"reason":"${rules.join(' ')}"`)
      expect([edge.upstream.connections, edge.upstream.requests.length]).toEqual(before)
      expect(await edge.balance()).toBe(balance)
    },
  )
})

describe('a policy of transactions', () => {
  it('asks nothing of merchants for whom nobody wrote one, and the evidence says that nothing caps the amount', async () => {
    await write({ default: {}, accounts: { acct_other: { halted: true } } })
    const answer = await pay()
    expect(answer.status).toBe(200)
    expect(await findingsOf(answer)).toEqual(['POLICY_AMOUNT_CAP_UNSET'])
  })

  it.each<[string, object, string]>([
    ['halts', { halted: true }, 'HALTED'],
    ['denies the payee', { denied_recipients: [{ address: PAYEE }] }, 'RECIPIENT_DENIED'],
    [
      'has a lower cap',
      {
        caps: [{ asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', network: 'eip155:84532', max: '9999' }],
      },
      'AMOUNT_OVER_CAP',
    ],
    ['wants a key of the buyer', { require_key: true }, 'UNSAFE_WITHOUT_IDEMPOTENCY'],
  ])(
    'that %s for the account of the merchant is a 403, and nothing is sent or charged',
    async (_, rules, code) => {
      await write({ accounts: { [await merchant()]: rules } })
      const before = edge.upstream.requests.length
      const balance = await edge.balance()
      const answer = await pay()
      expect([answer.status, answer.problem.code]).toEqual([403, 'transaction_blocked'])
      expect(answer.problem.findings).toEqual([{ rule: code, detail: expect.any(String) }])
      expect(answer.body.toString().toLowerCase()).not.toContain(PAYEE)
      expect(edge.upstream.requests.length).toBe(before)
      expect(await edge.balance()).toBe(balance)
    },
  )

  it('holds for every merchant where the default halts', async () => {
    await write({ default: { halted: true } })
    const answer = await edge.send(`${edge.merchant}/v1`)
    expect([answer.status, answer.problem.findings[0].rule]).toEqual([403, 'HALTED'])
  })

  it('that wants somebody to look is noted in the evidence, and what it allows is not', async () => {
    await write({ accounts: { [await merchant()]: { max_mandate_seconds: 60 } } })
    const noted = await pay()
    expect(noted.status).toBe(200)
    expect(await findingsOf(noted)).toEqual(['POLICY_AMOUNT_CAP_UNSET'])
    await write({
      accounts: {
        [await merchant()]: {
          caps: [
            { asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', network: 'eip155:84532', max: '10000' },
          ],
        },
      },
    })
    expect(await findingsOf(await pay())).toEqual([])
  })
})
