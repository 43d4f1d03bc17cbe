import { describe, expect, it } from 'vitest'
import { checkScopes, MAX_REQUEST_BYTES, prepareRequest } from '../../../src/egress/request.ts'
import { createProviders } from '../../../src/egress/providers/index.ts'
import type { EgressRequest } from '../../../src/egress/ports.ts'

const rules = { ports: [443], defaultHeaders: { 'x-version': '1' } }
const prepare = (request: Partial<EgressRequest>) =>
  prepareRequest({ url: 'https://api.example.com/v1/things', method: 'GET', headers: {}, ...request }, rules)
const scope = { hosts: ['api.example.com'], path_prefixes: ['/v1'], methods: ['GET' as const] }
const holders = { capability: { scope }, credential: { scope }, provider: { id: 'custom', denied: [] } }
const providers = createProviders()
const provider = (id: string) => providers.get(id) ?? expect.fail(`no provider ${id}`)
const post = { method: 'POST' }

describe('prepareRequest', () => {
  it('tells what is wrong with the request before what is forbidden about its target', () => {
    const headers = { cookie: 'a' }
    const code = (request: Partial<EgressRequest>) => {
      try {
        prepare(request)
      } catch (thrown) {
        return (thrown as { code: string }).code
      }
      return 'ok'
    }
    expect(code({ url: 'http://x', headers })).toBe('target_invalid')
    expect(code({ url: 'https://127.0.0.1/', headers })).toBe('header_forbidden')
    expect(code({ url: 'https://127.0.0.1/', body: 'x' })).toBe('input_invalid')
    expect(code({ url: 'https://127.0.0.1/' })).toBe('target_blocked')
    expect(code({})).toBe('ok')
  })

  it('sends the version headers of the provider unless the caller names another', () => {
    expect(prepare({}).headers).toContainEqual(['x-version', '1'])
  })

  it.each([
    ['as text', { body: 'a'.repeat(MAX_REQUEST_BYTES) }, { body: 'a'.repeat(MAX_REQUEST_BYTES + 1) }],
    [
      'as bytes',
      { body_base64: Buffer.alloc(MAX_REQUEST_BYTES).toString('base64') },
      { body_base64: Buffer.alloc(MAX_REQUEST_BYTES + 1).toString('base64') },
    ],
  ])('takes 128 KiB of body %s and not a byte more', (_name, fits, tooMuch) => {
    expect(prepare({ ...post, ...fits }).body).toHaveLength(MAX_REQUEST_BYTES)
    expect(() => prepare({ ...post, ...tooMuch })).toThrow(
      expect.objectContaining({ code: 'body_too_large' }),
    )
  })

  it('tells an empty body from none', () => {
    expect(prepare({ ...post, body: '' }).body).toEqual(Buffer.alloc(0))
    expect(prepare(post).body).toBeUndefined()
  })

  it('lowers limits as asked and never raises them', () => {
    expect(prepare({ timeout_ms: 5, max_bytes: 7 })).toMatchObject({ timeoutMs: 5, maxResponseBytes: 7 })
    expect(prepare({ timeout_ms: 30_000, max_bytes: 1_048_576 })).toMatchObject(prepare({}))
    expect(() => prepare({ timeout_ms: 30_001 })).toThrow(
      '/timeout_ms: this credential allows 30000 at most; its operator can raise it (settings.limits).',
    )
    expect(() => prepare({ max_bytes: 1_048_577 })).toThrow(
      '/max_bytes: this credential allows 1048576 at most',
    )
  })
})

describe('checkScopes', () => {
  it('lets through what both the capability and the credential cover', () => {
    expect(() => checkScopes(prepare({}), holders)).not.toThrow()
  })

  it.each(['capability', 'credential'] as const)('says that it was the %s that refused', (who) => {
    const narrow = { ...scope, path_prefixes: ['/v2'] }
    expect(() => checkScopes(prepare({}), { ...holders, [who]: { scope: narrow } })).toThrow(
      expect.objectContaining({
        code: 'scope_denied',
        reason: `${who}_path`,
        extras: { refused_by: who, scope: narrow },
      }),
    )
  })

  it('never sends a credential where the provider answers with another secret', () => {
    const wide = { scope: { hosts: ['api.anthropic.com'], path_prefixes: ['/'], methods: ['POST' as const] } }
    const request = prepare({ ...post, url: 'https://api.anthropic.com/v1/oauth/token' })
    const all = { capability: wide, credential: wide, provider: provider('anthropic') }
    expect(() => checkScopes(request, all)).toThrow(expect.objectContaining({ reason: 'denied_path' }))
    expect(() => checkScopes(request, { ...all, provider: provider('custom') })).not.toThrow()
  })
})
