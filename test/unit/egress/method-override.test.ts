import { describe, expect, it } from 'vitest'
import { prepareExchange, rulesOf } from '../../../src/egress/relay/prepare.ts'
import { refuseMethodParameter } from '../../../src/egress/method-override.ts'
import { prepareRequest } from '../../../src/egress/request.ts'

const FORM = [['Content-Type', 'application/x-www-form-urlencoded; charset=utf-8']] as const
const refuse = (search: string, body?: string, headers: readonly (readonly [string, string])[] = FORM) =>
  refuseMethodParameter({
    method: 'POST',
    search,
    headers,
    body: body === undefined ? undefined : Buffer.from(body),
  })

describe('another method than that of the request', () => {
  it.each([
    '_method=DELETE',
    'a=1&_METHOD=delete',
    '%5Fmethod=%44ELETE',
    'a=1;_method=PUT',
    '.method=DELETE',
    '_HttpMethod=PATCH',
    'X-HTTP-Method-Override=DELETE',
    '_method=POST&_method=DELETE',
  ])('is refused in a query and in a form: %s', (given) => {
    expect(() => refuse(`?${given}`)).toThrow(
      expect.objectContaining({ code: 'target_invalid', reason: 'method_override' }),
    )
    expect(() => refuse('', given)).toThrow(
      expect.objectContaining({ code: 'input_invalid', reason: 'method_override' }),
    )
    expect(() => refuse('', given, [])).toThrow('send the request with the method that is meant')
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
    expect(() => refuse(`?${given}`, given)).not.toThrow()
  })

  it('is not looked for in what is no form', () => {
    expect(() => refuse('', '_method=DELETE', [['content-type', 'text/plain']])).not.toThrow()
  })

  it('is refused of a program and of a fetch', () => {
    const url = 'https://api.example.com/v1/x?_method=DELETE'
    const options = { ports: [443], settings: {}, accountHeaders: [] }
    const exchange = { method: 'POST', headers: [] } as unknown as Parameters<
      typeof prepareExchange
    >[0]['exchange']
    const body = { whole: undefined, streamed: undefined }
    const rules = rulesOf({ header: 'authorization', scheme: 'Bearer', settings: {} })
    expect(() => prepareExchange({ url, exchange, body }, rules, options)).toThrow('parameter _method')
    expect(() =>
      prepareRequest({ url, method: 'POST', headers: {} }, { ports: [443], defaultHeaders: {} }),
    ).toThrow('parameter _method')
  })
})
