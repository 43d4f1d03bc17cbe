// A call that the call path takes credits for leaves a signed receipt, whatever door it came through.
import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digestCanonical } from '../../src/lib/canonical-json.ts'
import { JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { tools } from '../../tools/index.ts'
import { runCli } from '../support/cli.ts'
import { shout } from '../support/credit-tool.ts'
import { createWorld, ENGINES, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { at, type Json } from '../support/tree.ts'

const INPUT = { text: 'hello' }

interface Shouted {
  readonly text: string
  readonly credits: { readonly charged: number; readonly balance: number }
  readonly receipt: { readonly receipt_id: string; readonly url: string; readonly jws?: string }
}

describe.each(ENGINES)('a call on credits (%s)', (engine) => {
  let gw: TestGateway
  beforeAll(async () => {
    gw = await startTestGateway({ engine, tools: [...tools, shout] })
  })
  afterAll(() => gw?.close())

  async function rpc(path: string, method: string, params: Json, headers: Record<string, string>) {
    const response = await fetch(gw.baseUrl + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${gw.operatorKey}`,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return at((await response.json()) as Json, 'result')
  }
  const doors: Readonly<Record<string, () => Promise<unknown>>> = {
    REST: async () => (await gw.rest('POST', '/v1/text/shout', INPUT)).body,
    async MCP() {
      const params = { name: 'gateway_text_shout', arguments: INPUT }
      const result = await rpc('/mcp', 'tools/call', params, { 'mcp-protocol-version': '2025-11-25' })
      return at(result, 'structuredContent')
    },
    async A2A() {
      const parts = [{ data: { skill: 'shout', input: INPUT } }]
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts }
      const result = await rpc('/a2a', 'SendMessage', { message }, { 'a2a-version': '1.0' })
      return at(result, 'task', 'artifacts', '0', 'parts', '0', 'data')
    },
  }

  it.each(Object.entries(doors))('is answered over %s with a receipt that verifies', async (_door, call) => {
    const before = await gw.balance()
    const answer = (await call()) as Shouted
    const { receipt, ...rest } = answer
    expect(rest).toEqual({ text: 'HELLO', credits: { charged: 2, balance: before - 2 } })
    expect(await gw.balance()).toBe(before - 2)

    const keys = await (await fetch(`${gw.baseUrl}/.well-known/gateway-egress-key.json`)).text()
    // Over MCP and A2A an answer names its receipt by id and URL; whoever holds the id may read it.
    expect(receipt.url).toBe(`${gw.baseUrl}/v1/receipts/${receipt.receipt_id}`)
    const kept = (await (await fetch(receipt.url)).json()) as Shouted['receipt']
    expect(kept.receipt_id).toBe(receipt.receipt_id)
    if (receipt.jws !== undefined) expect(kept.jws).toBe(receipt.jws)
    const verdict = await verifyJws(kept.jws ?? '', JSON.parse(keys), JWS_TYPES.receipt)
    const [debit] = (await gw.rest('GET', '/v1/credits?limit=1')).body.ledger
    expect(verdict).toMatchObject({
      ok: true,
      payload: {
        iss: gw.baseUrl,
        jti: receipt.receipt_id,
        action: 'call',
        tool: 'gateway.text.shout',
        transaction_id: debit.transaction_id,
        charge: { amount: 2, unit: 'credit' },
        request_digest: digestCanonical({ tool: 'gateway.text.shout', input: INPUT }),
        result_sha256: hash('sha256', JSON.stringify(rest), 'hex'),
      },
    })
    expect(JSON.stringify(verdict)).not.toMatch(/hello/i)
    expect(debit).toMatchObject({ amount: -2, kind: 'call' })

    const files = { answer: join(gw.dataDir, 'answer.json'), keys: join(gw.dataDir, 'keys.json') }
    await writeFile(files.answer, JSON.stringify({ ...answer, receipt: kept }))
    await writeFile(files.keys, keys)
    const told = await runCli(['receipts', 'verify', files.answer, '--keys', files.keys, '--json'], {})
    expect(told.code, told.stderr).toBe(0)
    expect(JSON.parse(told.stdout)).toMatchObject({ verified: true, receipt: { action: 'call' } })
  })
})

it.each(ENGINES)(
  'credits come back at the start after a process that never answered (%s)',
  async (engine) => {
    const world = await createWorld({ engine })
    try {
      const begun = Promise.withResolvers<void>()
      const silent: typeof shout = {
        ...shout,
        plan: () => ({
          run() {
            begun.resolve()
            return new Promise(() => {})
          },
        }),
      }
      const first = await startTestGateway({ world, tools: [...tools, silent] })
      const before = await first.balance()
      const lost = expect(first.rest('POST', '/v1/text/shout', INPUT)).rejects.toThrow()
      await begun.promise
      expect(await first.balance()).toBe(before - 2)
      await first.gateway.close(0)
      await lost

      const second = await startTestGateway({ world, tools: [...tools, shout] })
      expect(await second.balance()).toBe(before)
      expect(second.log()).toContain('gave back the credits of calls that a crash left unanswered')
      await second.close()
    } finally {
      await world.close()
    }
  },
)
