// An assistant that a person connected, without the walk through the authorization server: for tests of what its token opens.
import { newId } from '../../src/lib/ids.ts'
import { hashToken, newToken } from '../../src/lib/tokens.ts'
import type { ConnectionChoice } from '../../src/identity/ports.ts'
import { choiceOf } from './connections.ts'
import type { TestGateway } from './gateway.ts'
import { signIn } from './people.ts'

export interface TestAssistant {
  readonly connectionId: string
  readonly accountId: string
  readonly token: string
  /** Another token of the same connection. */
  issue(expiresAt: number): Promise<string>
}

/** @param credentialIds what it may use */
export async function connectAssistant(
  gateway: Pick<TestGateway, 'store' | 'services' | 'baseUrl'>,
  credentialIds: readonly string[],
  over: Partial<ConnectionChoice> = {},
): Promise<TestAssistant> {
  const { identity } = gateway.services
  const person = await signIn(gateway)
  const by = await identity.sessions.find(person.cookie.split('=')[1] ?? '')
  if (!by) throw new Error('nobody is signed in')
  const connection = await identity.connections.open({
    by,
    client: {
      id: 'https://assistant.example/client',
      name: 'Assistant',
      host: 'assistant.example',
      redirectHost: 'assistant.example',
      isLoopback: false,
    },
    grantId: newId('req'),
    choice: choiceOf(credentialIds, over),
  })
  const issue = async (expiresAt: number) => {
    const token = newToken('at')
    await identity.connections.addToken({
      connectionId: connection.id,
      tokenHash: hashToken(token),
      expiresAt,
    })
    return token
  }
  return {
    connectionId: connection.id,
    accountId: person.accountId,
    token: await issue(Date.now() + 3_600_000),
    issue,
  }
}
