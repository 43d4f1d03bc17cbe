// A list holds what the token on the connection opens: authentication decides the one and the other.
import { describe, expect, it } from 'vitest'
import { authenticate } from '../../../src/core/authenticate.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { isShown } from '../../../src/doors/mcp/audience.ts'
import { tools } from '../../../tools/index.ts'
import { capability, emailKey, testStore } from '../../support/mcp-gateway.ts'

const context = { store: testStore, now: 0, address: 'test' }
const opens = (caller: (typeof tools)[number]['caller'], bearer: string) =>
  authenticate(caller, { bearer }, context).then(
    () => true,
    (thrown: unknown) => {
      if (thrown instanceof GatewayError && thrown.status < 404) return false
      throw thrown
    },
  )

describe.each([
  ['agent', capability],
  ['email', emailKey],
] as const)('the list for a token of kind %s', (audience, token) => {
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    'holds %s if the token opens it',
    async (_, tool) => {
      expect(isShown(tool, audience)).toBe(await opens(tool.caller, token))
    },
  )
})

it('shows strangers nothing that only a service key opens', () => {
  const hidden = tools.filter((tool) => !isShown(tool, 'public')).map(({ caller }) => caller)
  expect([...new Set(hidden)].toSorted()).toEqual(['admin', 'operator', 'seller'])
})
