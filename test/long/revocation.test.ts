// What ends a key, a capability or a credential ends it for the very next call, whoever ended it and however many calls are
// under way with it: rows that every call reads are remembered.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyTool } from '../../src/core/registry.ts'
import { egressCapabilitiesRevoke } from '../../tools/egress-capabilities-revoke.ts'
import { egressCredentialsRevoke } from '../../tools/egress-credentials-revoke.ts'
import { egressCredentialsRotate } from '../../tools/egress-credentials-rotate.ts'
import { keysRevoke } from '../../tools/keys-revoke.ts'
import { runCli } from '../support/cli.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { throughDoor } from '../support/three-doors.ts'

const CALLERS = 16
/** Of each caller, after the change. */
const CALLS_AFTER = 3

let gw: TestGateway
beforeAll(async () => {
  gw = await startTestGateway({ env: { GATEWAY_SERVICE_KEY_CREDITS: '100000' } })
})
afterAll(() => gw.close())

/** How an operator ends something: the tool, its input, and the same as words of the command line. */
interface Change {
  readonly tool: AnyTool
  readonly input: Readonly<Record<string, string>>
  readonly words: readonly string[]
  readonly stdin?: string
}
type Way = (change: Change) => Promise<void>

const send = (path: string, init: RequestInit) => fetch(`${gw.baseUrl}${path}`, init)
const throughTool =
  (door: 'rest' | 'mcp'): Way =>
  async ({ tool, input }) => {
    expect(await throughDoor[door](send, tool, input, gw.operatorKey)).toMatchObject({ code: 'ok' })
  }
const WAYS: readonly (readonly [string, Way])[] = [
  ['REST', throughTool('rest')],
  ['MCP', throughTool('mcp')],
  [
    'the command line',
    async ({ words, stdin }) => {
      const env = { GATEWAY_BASE_URL: gw.baseUrl, GATEWAY_OPERATOR_KEY: gw.operatorKey }
      expect(await runCli(words, env, stdin)).toMatchObject({ code: 0 })
    },
  ],
]

/** What calls answered that began before the change was answered, and what those answered that began after. */
async function amidCalls(call: () => Promise<string>, change: () => Promise<void>) {
  const before: string[] = []
  const after: string[] = []
  let isChanged = false
  let begin!: () => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const callers = Array.from({ length: CALLERS }, async () => {
    for (let left = CALLS_AFTER; left > 0;) {
      const isAfter = isChanged
      const answer = await call()
      if (isAfter) {
        after.push(answer)
        left--
      } else if (before.push(answer) === 4 * CALLERS) begin()
    }
  })
  await begun
  await change()
  isChanged = true
  await Promise.all(callers)
  expect(after).toHaveLength(CALLERS * CALLS_AFTER)
  return { first: before.slice(0, CALLERS), after: new Set(after) }
}

const codeOf = ({ status, body }: { status: number; body: { code?: string } }) =>
  `${status} ${body.code ?? ''}`.trim()

describe.each(WAYS)('amid calls of sixteen callers, through %s', (_name, change) => {
  it('a revoked key opens nothing more', async () => {
    const { key, key_id } = (await gw.rest('POST', '/v1/keys', { account: 'new', name: 'x' })).body
    const { first, after } = await amidCalls(
      async () => codeOf(await gw.rest('GET', '/v1/credits', undefined, key)),
      () => change({ tool: keysRevoke, input: { key_id }, words: ['keys', 'revoke', key_id] }),
    )
    expect([new Set(first), after]).toEqual([new Set(['200']), new Set(['401 key_invalid'])])
  })

  it('a revoked capability sends nothing more', async () => {
    const { capability, capabilityId } = await gw.grant()
    const { first, after } = await amidCalls(
      async () => codeOf(await gw.fetch(capability, { url: gw.url('/a') })),
      () =>
        change({
          tool: egressCapabilitiesRevoke,
          input: { capability_id: capabilityId },
          words: ['capabilities', 'revoke', capabilityId],
        }),
    )
    expect([new Set(first), after]).toEqual([new Set(['200']), new Set(['401 capability_invalid'])])
  })

  it('a revoked credential goes nowhere any more', async () => {
    const { capability, credentialId } = await gw.grant()
    const { first, after } = await amidCalls(
      async () => codeOf(await gw.fetch(capability, { url: gw.url('/b') })),
      () =>
        change({
          tool: egressCredentialsRevoke,
          input: { credential_id: credentialId },
          words: ['credentials', 'revoke', credentialId],
        }),
    )
    expect([new Set(first), after]).toEqual([new Set(['200']), new Set(['401 capability_invalid'])])
  })

  it('a replaced secret is the one that is sent', async () => {
    const { capability, credentialId } = await gw.grant({ secret: 'upstream-secret-old' })
    gw.upstream.respond(({ headers }, res) => {
      const authorization = headers.find(([name]) => name === 'authorization')?.[1] ?? ''
      // Which it was, and not the secret itself: that would not pass.
      const secret = authorization.endsWith('upstream-secret-new') ? 'second' : 'first'
      res.writeHead(200, { 'content-type': 'text/plain' }).end(secret)
    })
    const { first, after } = await amidCalls(
      async () => {
        const { status, body } = await gw.fetch(capability, { url: gw.url('/c') })
        return `${status} ${body.upstream.body}`
      },
      () =>
        change({
          tool: egressCredentialsRotate,
          input: { credential_id: credentialId, secret: 'upstream-secret-new' },
          words: ['credentials', 'rotate', credentialId],
          stdin: 'upstream-secret-new\n',
        }),
    )
    expect([new Set(first), after]).toEqual([new Set(['200 first']), new Set(['200 second'])])
  })
})
