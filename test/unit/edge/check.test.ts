// Asking for a host notes that the account wants to serve it; a host that belongs to nobody alone is not noted.
import { createSecretKey } from 'node:crypto'
import { expect, it } from 'vitest'
import { type CheckParts, createEdgeCheck } from '../../../src/edge/check.ts'

function ask(host: string) {
  const saved: unknown[] = []
  const parts = {
    resolver: { resolve: async () => ['93.184.216.34'] },
    addresses: { classify: () => ({ ok: true }) },
    tokenKey: createSecretKey(Buffer.alloc(32, 7)),
    edgeName: 'gw.example.com',
    egressPorts: [443],
    allowSandboxName: false,
    baseUrl: 'https://gw.example.com',
    now: () => 1_000,
    store: { saveEdgeHost: async (host: unknown) => void saved.push(host) },
  } as unknown as CheckParts
  const check = createEdgeCheck(parts, {
    inquire: async () => ({
      verdict: { ok: false, refusal: 'no_record', detail: 'no record' } as never,
      answers: [],
    }),
  })
  return check('acc_1', host).then((answer) => ({ answer, saved }))
}

it.each(['co.uk', 'github.io', 'blogspot.com'])(
  'keeps no host whose names are handed out to strangers: %s',
  async (host) => {
    const { answer, saved } = await ask(host)
    expect(answer).toMatchObject({ host, authorized: false })
    expect(saved).toEqual([])
  },
)

it.each(['example.com', 'shop.co.uk', 'me.github.io'])('keeps a host below one: %s', async (host) => {
  const { answer, saved } = await ask(host)
  expect(saved).toEqual([{ token: expect.any(String), host, accountId: 'acc_1', now: 1_000 }])
  expect(answer).toMatchObject({ host, authorized: false, name: `_agent-gateway.${host}` })
})
