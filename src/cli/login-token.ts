// Tokens of a person who signed in with `login`: how they are asked for, and replaced before they end.
import { CLI_CLIENT_ID } from '../identity/oauth/clients.ts'
import { CommandFailure, Exit } from './exit.ts'
import { keepLogin, type Login, readLogins } from './login-file.ts'
import { formatValue } from './output.ts'

const TIMEOUT_MS = 30_000
/** An access token that ends sooner is replaced before it is used. */
const REFRESH_BEFORE_MS = 60_000

/** What the authorization server says, its refusals too. */
export type Answer = Readonly<Record<string, unknown>>

/**
 * The access token for a gateway that this person is signed in to, replaced where it is about to end.
 * @throws {CommandFailure} where the gateway takes it no more
 */
export async function loginToken(url: string): Promise<string | undefined> {
  const held = (await readLogins())[url]
  if (!held) return undefined
  if (Date.parse(held.expires_at) - Date.now() > REFRESH_BEFORE_MS) return held.access_token
  const answer = await ask(url, '/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: held.refresh_token,
    client_id: CLI_CLIENT_ID,
  })
  if (answer['error'] === 'invalid_grant') {
    await keepLogin(url, undefined)
    throw new CommandFailure(
      Exit.failed,
      `Your sign-in to ${url} was ended or is too old. Run \`agent-gateway login\` again.`,
    )
  }
  const next = keptOf(accepted(url, answer))
  await keepLogin(url, next)
  return next.access_token
}

export function keptOf(tokens: Answer): Login {
  return {
    access_token: textOf(tokens, 'access_token'),
    refresh_token: textOf(tokens, 'refresh_token'),
    expires_at: new Date(Date.now() + Number(tokens['expires_in']) * 1000).toISOString(),
    scope: textOf(tokens, 'scope'),
  }
}

export async function post(url: string, path: string, values: Record<string, string>): Promise<Answer> {
  return accepted(url, await ask(url, path, values))
}

export function accepted(url: string, answer: Answer): Answer {
  if (answer['error'] === undefined) return answer
  const why = formatValue(answer['error_description'] ?? answer['error'])
  throw new CommandFailure(Exit.failed, `${url} refuses to sign you in: ${why}.`)
}

export async function ask(url: string, path: string, values: Record<string, string>): Promise<Answer> {
  let text: string
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      body: new URLSearchParams(values),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    text = await response.text()
  } catch {
    throw new CommandFailure(
      Exit.unreachable,
      `No gateway answers at ${url}. Start it with \`agent-gateway serve\`, or name another address with --url.`,
    )
  }
  if (text === '') return {}
  try {
    return JSON.parse(text) as Answer
  } catch {
    throw new CommandFailure(
      Exit.unreachable,
      `${url} answers, but not like an Agent Gateway. Check the address.`,
    )
  }
}

export function textOf(answer: Answer, name: string): string {
  const value = answer[name]
  if (typeof value !== 'string') throw new CommandFailure(Exit.failed, `The gateway's answer has no ${name}.`)
  return value
}
