import { expect, it } from 'vitest'
import { gatewayFault, GatewayError, toGatewayError } from '../../../src/core/errors.ts'
import { logRefusal } from '../../../src/doors/http/refusal-line.ts'
import { createLogger } from '../../../src/lib/log.ts'

function lineOf(error: GatewayError): Record<string, unknown> {
  const lines: string[] = []
  logRefusal(createLogger('info', { write: (line: string) => void lines.push(line) }), error, {
    requestId: 'req_1',
  })
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0]!) as Record<string, unknown>
}

it.each(['request_invalid', 'origin_denied', 'rate_limited', 'overloaded'] as const)(
  'of what ends in %s is no error and has no stack',
  (code) => {
    const line = lineOf(new GatewayError(code, 'Words.', { reason: 'why', cause: new Error('a driver') }))
    expect(line).toEqual({
      level: 30,
      time: expect.any(String),
      request_id: 'req_1',
      code,
      reason: 'why',
      msg: 'refused',
    })
  },
)

it.each([
  ['is thrown in a door', toGatewayError(new TypeError('x is not a function')), 'TypeError'],
  ['was found by the gateway itself', gatewayFault('no such row'), 'Error'],
  ['has no cause', new GatewayError('internal', 'Words.'), 'GatewayError'],
])('of a fault that %s is an error that says where', (_, error, type) => {
  const line = lineOf(error)
  expect(line).toMatchObject({ level: 50, code: 'internal', msg: 'door failed', err: { type } })
  expect(line['err']).toMatchObject({ at: expect.arrayContaining([expect.stringMatching(/^at /)]) })
})
