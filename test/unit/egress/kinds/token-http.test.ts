// How long one exchange with a token endpoint may take: it counts from the first thing that is done for it.
import { expect, it } from 'vitest'
import { ClaimLost } from '../../../../src/egress/kinds/claim.ts'
import { createTokenHttp, EXCHANGE_MS } from '../../../../src/egress/kinds/token-http.ts'
import type { OutboundRequest } from '../../../../src/egress/ports.ts'
import { Secret } from '../../../../src/lib/secret.ts'

/** @param ms how long reading the policy and resolving the name take */
function setUp(
  ms: { policy?: number | undefined; name?: number | undefined },
  confirm = async () => {},
  fail?: () => never,
) {
  const clock = { at: 1_800_000_000_000 }
  const sent: OutboundRequest[] = []
  const resolving: number[] = []
  const ask = createTokenHttp(
    {
      resolver: {
        async resolve(_host, timeoutMs) {
          resolving.push(timeoutMs)
          clock.at += ms.name ?? 0
          return ['192.0.2.1']
        },
      },
      sender: {
        async send(request) {
          sent.push(request)
          fail?.()
          const body = Buffer.from('{}')
          return { ok: true, response: { status: 200, statusText: 'OK', headers: [], body } }
        },
        close: async () => {},
      },
      reach: () => ({ classify: () => ({ ok: true }) }),
      async checkHost() {
        clock.at += ms.policy ?? 0
        return { ok: true }
      },
      now: () => clock.at,
    },
    { id: 'cred_1', version: 1, settings: {}, scope: { hosts: [], path_prefixes: ['/'], methods: ['POST'] } },
    { tls: undefined, timeoutMs: EXCHANGE_MS, confirm },
  )
  const request = {
    method: 'POST' as const,
    url: new URL('https://login.example.com/token'),
    headers: new Secret([]),
    body: new Secret('refresh_token=refresh-token-1'),
  }
  return { sent, resolving, ask: () => ask(request) }
}

it('leaves what is left of its time to the name and to the request', async () => {
  const { sent, resolving, ask } = setUp({ policy: 3_000, name: 2_000 })
  await ask()
  expect(resolving).toEqual([EXCHANGE_MS - 3_000])
  expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([EXCHANGE_MS - 5_000])
})

it.each([
  ['the policy', { policy: EXCHANGE_MS }],
  ['the name', { policy: 4_000, name: EXCHANGE_MS - 4_000 }],
])('sends no refresh token once %s has used it up: somebody else may be about to', async (_, ms) => {
  const { sent, ask } = setUp(ms)
  await expect(ask()).rejects.toMatchObject({
    facts: { host: 'login.example.com', reason: 'unreachable' },
  })
  expect(sent).toEqual([])
})

it('sends no refresh token where the claim turns out to be lost right before', async () => {
  const resolved: number[] = []
  const { sent, resolving, ask } = setUp({ policy: 3_000, name: 2_000 }, async () => {
    resolved.push(resolving.length)
    throw new ClaimLost()
  })
  await expect(ask()).rejects.toBeInstanceOf(ClaimLost)
  expect(resolved).toEqual([1])
  expect(sent).toEqual([])
})

it('takes a request for sent where its sender fails in a way of its own', async () => {
  const broken = new TypeError('of whatever kind')
  const { ask } = setUp({}, undefined, () => {
    throw broken
  })
  await expect(ask()).rejects.toMatchObject({
    facts: { host: 'login.example.com', reason: 'no_answer' },
    cause: broken,
  })
})
