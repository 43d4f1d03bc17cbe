// Which answers would have a program take its capability elsewhere.
import { describe, expect, it } from 'vitest'
import { createFindRedirect } from '../../../../src/egress/relay/redirect.ts'

const CAPABILITY = `agw_cap_${'A'.repeat(43)}`
const find = ({
  status = 302,
  headers = [],
  path = '/v1/x',
}: {
  readonly status?: number
  readonly headers?: readonly (readonly [string, string])[]
  readonly path?: string
}) =>
  createFindRedirect(
    { target: { credential: 'my-api', path, base: '/via/my-api' }, headers },
    'https://api.example.com/v1/x',
  )({ status, headers: [['location', 'https://cdn.example.net/x']] })

describe('a redirect to another host', () => {
  // curl follows each of them, a 304 included.
  it.each([300, 301, 302, 303, 304, 307, 308])('takes a capability in a header along: %d', (status) => {
    expect(find({ status, headers: [['X-Api-Key', CAPABILITY]] })).toBe('https://cdn.example.net')
  })

  it('is none where something was made there', () => {
    expect(find({ status: 201, headers: [['x-api-key', CAPABILITY]] })).toBeUndefined()
  })

  it('leaves behind what stands in Authorization, a cookie, the path or the query', () => {
    expect(find({ headers: [['Authorization', `Bearer ${CAPABILITY}`]] })).toBeUndefined()
    expect(find({ headers: [['Cookie', `key=${CAPABILITY}`]] })).toBeUndefined()
    expect(find({ path: `/bot${CAPABILITY}/x?key=${CAPABILITY}` })).toBeUndefined()
  })
})
