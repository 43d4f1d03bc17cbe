// Which addresses could ever be read, and what is said about the others before anybody pays.
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../src/core/errors.ts'
import { checkSources, findFault } from '../../../src/outcomes/sources/address.ts'

const rules = { ports: [443], allowSandboxName: false }

describe('an address', () => {
  it.each([
    'https://news.example.com/',
    'https://news.example.com',
    'https://news.example.com/a/b?x=1&y=%20',
    'https://xn--mnchen-3ya.example.com/',
  ])('that is canonical may be read: %s', (url) => {
    expect(findFault(url, rules)).toBeUndefined()
  })

  it.each([
    ['http://news.example.com/a', 'https://news.example.com/a'],
    ['HTTP://news.example.com/a', 'https://news.example.com/a'],
    ['https://news.example.com/a#part', 'https://news.example.com/a'],
    ['https://NEWS.example.com/a', 'https://news.example.com/a'],
    ['https://news.example.com:443/a', 'https://news.example.com/a'],
    ['https://user:pass@news.example.com/a', 'https://news.example.com/a'],
    ['https://news.example.com/a/../b', 'https://news.example.com/b'],
    ['https://news.example.com/über', 'https://news.example.com/%C3%BCber'],
    [' https://news.example.com/a', 'https://news.example.com/a'],
  ])('in another spelling is refused with the one to send: %s', (url, instead) => {
    const fault = findFault(url, rules)
    expect(fault?.reason).toBe('target_invalid')
    expect(fault?.detail).toContain(`Send ${instead} instead.`)
    expect(findFault(instead, rules)).toBeUndefined()
  })

  it.each(['ftp://news.example.com/a', 'news.example.com', 'https://', 'javascript:alert(1)', ''])(
    'that is none is refused without a suggestion: %j',
    (url) => {
      const fault = findFault(url, rules)
      expect(fault?.reason).toBe('target_invalid')
      expect(fault?.detail).not.toMatch(/ Send .* instead\.$/)
    },
  )

  it.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://0x7f.1/',
    'https://localhost/',
    'https://printer.local/',
    'https://db.internal/',
    'https://news.example.com:8443/',
  ])('that stays closed is blocked: %s', (url) => {
    expect(findFault(url, rules)?.reason).toBe('target_blocked')
  })

  it('never repeats a password in its suggestion', () => {
    expect(findFault('https://user:s3cret@news.example.com/', rules)?.detail).not.toContain('s3cret')
  })
})

describe('the sources of a paid outcome', () => {
  const source = (url: string, ...fallbacks: string[]) => ({ url, fallbacks })
  const refusal = (...sources: ReturnType<typeof source>[]) => {
    try {
      checkSources(sources, rules)
    } catch (thrown) {
      return thrown as GatewayError
    }
    return undefined
  }
  const good = 'https://news.example.com/'

  it.each<[string, ReturnType<typeof source>[]]>([
    ['none are named', []],
    ['one may be read', [source(good)]],
    ['one of two may be read', [source('http://x.example.com/'), source(good)]],
    ['only a fallback may be read', [source('https://127.0.0.1/', good)]],
  ])('go on where %s', (_, sources) => {
    expect(refusal(...sources)).toBeUndefined()
  })

  it.each([
    ['target_invalid', 400, [source('http://news.example.com/')]],
    ['target_blocked', 403, [source('https://127.0.0.1/')]],
    ['target_invalid', 400, [source('http://news.example.com/', 'https://127.0.0.1/')]],
    ['target_blocked', 403, [source('https://127.0.0.1/'), source('http://news.example.com/')]],
  ] as const)('are refused as the first address has it: %s', (code, status, sources) => {
    const error = refusal(...sources)
    expect(error).toBeInstanceOf(GatewayError)
    expect([error!.code, error!.status]).toEqual([code, status])
    expect(error!.message).toContain('Nothing was charged')
  })

  it('are refused one by one, each with its reason', () => {
    const error = refusal(
      source('http://news.example.com/', 'https://localhost/'),
      source('https://10.0.0.1/'),
    )
    expect(error!.extras['sources']).toEqual([
      {
        requested: 'http://news.example.com/',
        attempts: [
          expect.objectContaining({ role: 'source', ok: false, reason: 'target_invalid' }),
          expect.objectContaining({ role: 'fallback', ok: false, reason: 'target_blocked' }),
        ],
      },
      {
        requested: 'https://10.0.0.1/',
        attempts: [expect.objectContaining({ role: 'source', reason: 'target_blocked' })],
      },
    ])
  })
})
