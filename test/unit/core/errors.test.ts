import { describe, expect, it } from 'vitest'
import { type ErrorCode, ERRORS, GatewayError, toGatewayError, toProblem } from '../../../src/core/errors.ts'

const context = { requestId: 'req_1', baseUrl: 'https://gw.example' }

describe('errors', () => {
  it.each(Object.entries(ERRORS))(
    '%s has an error status, a title and a code fit for a URL',
    (code, entry) => {
      expect(code).toMatch(/^[a-z][a-z0-9_]+$/)
      expect(entry.status).toBeGreaterThanOrEqual(400)
      expect(entry.status).toBeLessThan(600)
      expect(entry.title).toMatch(/^[A-Z].*[^.]$/)
    },
  )

  it.each<[ErrorCode, number]>([
    ['capability_required', 401],
    ['key_required', 401],
    ['credits_required', 402],
    ['scope_denied', 403],
    ['receipt_not_found', 404],
    ['mandate_required', 428],
    ['outcome_ambiguous', 503],
  ])('%s keeps the status of the specification', (code, status) => {
    expect(new GatewayError(code, 'd').status).toBe(status)
  })

  it('makes a problem document with everything RFC 9457 asks for', () => {
    const error = new GatewayError('input_invalid', 'Send less.', {
      reason: 'for the log',
      cause: new Error('driver text'),
      extras: { retry_after_seconds: 3 },
    })
    const problem = toProblem(error, { ...context, instance: '/v1/execute' })
    expect(problem).toEqual({
      type: 'https://gw.example/problems/input_invalid',
      title: ERRORS.input_invalid.title,
      status: 400,
      detail: 'Send less.',
      instance: '/v1/execute',
      code: 'input_invalid',
      request_id: 'req_1',
      retry_after_seconds: 3,
    })
    expect(toProblem(error, context).instance).toBe('urn:request:req_1')
    expect(JSON.stringify(problem)).not.toMatch(/driver text|for the log/)
  })

  it('passes a gateway error on and hides every other one', () => {
    const own = new GatewayError('not_found', 'd')
    expect(toGatewayError(own)).toBe(own)
    for (const thrown of [new TypeError('password=hunter2'), 'hunter2', undefined, { message: 'hunter2' }]) {
      const error = toGatewayError(thrown)
      expect(error.code).toBe('internal')
      expect(error.cause).toBe(thrown)
      expect(JSON.stringify(toProblem(error, context))).not.toContain('hunter2')
    }
  })
})
