import { expect, it } from 'vitest'
import { judgedPath, usualCredential } from '../../../../src/cli/run/judged-path.ts'

const of = (settings: Record<string, unknown>) => ({ header: 'authorization', scheme: 'Bearer', settings })
const inPath = of({ placements: [{ in: 'path', at: 0, prefix: 'bot' }] })

it.each([
  ['/getMe', '/bot123456789:AgentGatewayPlaceholder/getMe', inPath],
  // A key of the program's own is written nowhere.
  [undefined, '/bot123456789:AAHrealKeyOfTheProgramItself/getMe?x=1', inPath],
  ['/getMe', '/getMe', inPath],
  ['/bot1/getMe', '/bot1/getMe', of({})],
  ['/user', '/us%65r?page=2', of({})],
  ['/caf%C3%A9', '/caf%c3%a9', of({})],
  ['/projects/a%2Fb', '/projects/a%2fb', of({ encoded_slash: true })],
  [undefined, '/projects/a%2fb', of({})],
  [undefined, '/a/../b', of({})],
  [undefined, '/a//b', of({})],
])('says %s of %s', (judged, path, credential) => {
  expect(judgedPath(`https://api.example.com:8443${path}`, credential)).toBe(judged)
})

it('takes the placements of the provider for a capability, whose holder is told of no others', () => {
  const providers = [
    { hosts: ['api.example.com'] },
    { hosts: ['api.telegram.org'], placements: [{ in: 'path' as const, at: 0, prefix: 'bot' }] },
    { hosts: [], host_suffixes: ['.g.example.com'], placements: [{ in: 'path' as const, at: 1 }] },
  ]
  const judged = (host: string, path: string) =>
    judgedPath(`https://${host}${path}`, usualCredential(providers, host))
  expect(judged('api.telegram.org', '/bot1:AgentGateway/getMe')).toBe('/getMe')
  expect(judged('eth.g.example.com', '/v2/AgentGateway')).toBe('/v2')
  expect(judged('api.example.com', '/bot1/x%2fy')).toBe('/bot1/x%2Fy')
  expect(judged('unknown.example.com', '/bot1')).toBe('/bot1')
})
