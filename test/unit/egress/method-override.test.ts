import { describe, expect, it, vi } from 'vitest'
import { prepareExchange, rulesOf } from '../../../src/egress/relay/prepare.ts'
import { findOtherMethods } from '../../../src/egress/method-override.ts'
import { checkScopes, prepareRequest } from '../../../src/egress/request.ts'
import { judgeRequest } from '../../../src/egress/rules/judge.ts'
import type { Scope } from '../../../schemas/http.ts'

type Headers = readonly (readonly [string, string])[]
const FORM: Headers = [['Content-Type', 'application/x-www-form-urlencoded; charset=utf-8']]
const find = (search: string, body?: string, headers = FORM) =>
  findOtherMethods({
    method: 'POST',
    search,
    headers,
    body: body === undefined ? undefined : Buffer.from(body),
  })?.map(({ method }) => method)

describe('another method than that of the request', () => {
  it.each([
    ['_method=DELETE', 'DELETE'],
    ['a=1&_METHOD=delete', 'DELETE'],
    ['%5Fmethod=%44ELETE', 'DELETE'],
    ['a=1;_method=PUT', 'PUT'],
    ['.method=DELETE', 'DELETE'],
    ['_HttpMethod=PATCH', 'PATCH'],
    ['X-HTTP-Method-Override=DELETE', 'DELETE'],
    ['_method=POST&_method=DELETE', 'DELETE'],
    ['_method=PUT&_method=DELETE', 'PUT DELETE'],
    ['_method%00=DELETE', 'DELETE'],
    ['_method%00x=DELETE', 'DELETE'],
    ['_method=DELETE%00x', 'DELETE'],
    ['_method=purge', 'PURGE'],
    ['_method=MOVE', 'MOVE'],
    ['_method=COPY', 'COPY'],
  ])('is found in a query and in a form: %s', (given, methods) => {
    const found = methods.split(' ')
    expect(find(`?${given}`)).toEqual(found)
    expect(find('', given)).toEqual(found)
    expect(find('', given, [])).toEqual(found)
  })

  it('is found however its name is escaped', () => {
    for (const name of ['_method', '_HTTPMETHOD', 'x-http-method-override', 'X-Method-Override'])
      for (let at = 0; at < name.length; at++)
        for (const change of ['toLowerCase', 'toUpperCase'] as const) {
          const code = `%${name.charCodeAt(at).toString(16)[change]()}`
          const all = [...name].map((char) => `%${char.charCodeAt(0).toString(16)[change]()}`).join('')
          for (const given of [name.slice(0, at) + code + name.slice(at + 1), all])
            expect(find('', `a=1&${given}=DELETE`), given).toEqual(['DELETE'])
        }
  })

  it('is found in a form of many parameters, of which none but those that may name one are decoded', () => {
    const decoded = vi.spyOn(globalThis, 'URLSearchParams')
    expect(find('', `${'a;%41;'.repeat(20_000)}_method=DELETE`)).toEqual(['DELETE'])
    expect(decoded).toHaveBeenCalledTimes(1)
    decoded.mockRestore()
  })

  it.each([
    '',
    '_method=POST',
    '_method=post',
    '_method=',
    '_method=list',
    'method=DELETE',
    'a=_method=DELETE',
  ])('is not what says the same, or no method: %s', (given) => {
    expect(find(`?${given}`, given)).toBeUndefined()
  })

  it('is looked for in a form, whichever of its types says so, and in nothing else', () => {
    const plain = ['content-type', 'text/plain'] as const
    expect(find('', '_method=DELETE', [plain])).toBeUndefined()
    expect(find('', '_method=DELETE', [plain, ...FORM])).toEqual(['DELETE'])
    expect(find('', '_method=DELETE', [...FORM, plain])).toEqual(['DELETE'])
    expect(find('', '_method=DELETE', [['content-type', `text/plain, ${FORM[0]![1]}`]])).toEqual(['DELETE'])
  })
})

const URL_OF_BOTH = 'https://api.example.com/v1/x?_method=PATCH'
const ofFetch = () =>
  prepareRequest({ url: URL_OF_BOTH, method: 'POST', headers: {} }, { ports: [443], defaultHeaders: {} })
function ofProgram() {
  const exchange = { method: 'POST', headers: [] } as unknown as Parameters<
    typeof prepareExchange
  >[0]['exchange']
  return prepareExchange(
    { url: URL_OF_BOTH, exchange, body: { whole: undefined, streamed: undefined } },
    rulesOf({ header: 'authorization', scheme: 'Bearer', settings: {} }),
    { ports: [443], settings: {}, accountHeaders: [] },
  )
}

describe.each([
  ['a fetch', ofFetch],
  ['a program', ofProgram],
])('another method of %s', (_whose, prepare) => {
  const scoped = (...methods: Scope['methods']) => ({
    scope: { hosts: ['api.example.com'], path_prefixes: ['/v1'], methods },
  })
  const check = (holder: 'capability' | 'credential', ...methods: Scope['methods']) => {
    const wide = scoped('POST', 'PATCH')
    checkScopes(prepare(), {
      capability: wide,
      credential: wide,
      provider: { id: 'custom', denied: [] },
      [holder]: scoped(...methods),
    })
  }
  const judge = (rules: string[]) => judgeRequest(prepare(), { credential: { settings: { rules } } })

  it.each(['capability', 'credential'] as const)(
    'passes where the %s covers it, and only there',
    (holder) => {
      expect(() => check(holder, 'POST', 'PATCH')).not.toThrow()
      expect(() => check(holder, 'PATCH')).toThrow('does not cover this method')
      expect(() => check(holder, 'POST', 'DELETE')).toThrow(
        expect.objectContaining({
          code: 'scope_denied',
          reason: `${holder}_method`,
          message: expect.stringContaining('the method PATCH, which the query parameter _method names'),
        }),
      )
    },
  )

  it('is what rules are asked about, too', () => {
    expect(judge(['allow * *'])).toEqual({ decision: 'allow', rule: undefined })
    expect(judge(['ask PATCH *', 'allow * *'])).toEqual({ decision: 'ask', rule: 'ask PATCH *' })
    expect(() => judge(['deny PATCH *', 'allow * *'])).toThrow(
      'as PATCH, which its query parameter _method names',
    )
    expect(() => judge(['allow POST *'])).toThrow(expect.objectContaining({ reason: 'credential_rule' }))
  })
})
