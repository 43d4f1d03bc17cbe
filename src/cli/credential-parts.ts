// What a credential is beyond one secret in one header, on the command line: its settings from a file, its secret as several texts.
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { CredentialSettings } from '../../schemas/credential-settings.ts'
import { SecretTexts } from '../../schemas/egress.ts'
import type { Secret } from '../lib/secret.ts'
import { parseOperatorJson } from '../lib/operator-json.ts'
import { CommandFailure, Exit } from './exit.ts'
import { parseInput } from './input.ts'

export interface PartsOption {
  readonly parts?: true
}
export interface SettingsOption {
  readonly settingsFile?: string
}

/** undefined where it is no JSON, or says something twice; the words of the parser would quote a secret. */
function parse(text: string): unknown {
  try {
    return parseOperatorJson(text)
  } catch {
    return undefined
  }
}

export const addPartsOption = (command: Command): Command =>
  command.option(
    '--parts',
    'the secret is a JSON object of several texts by name, such as {"user": …, "password": …}',
  )

export const addSettingsOption = (command: Command): Command =>
  command.option(
    '--settings-file <file>',
    'JSON of `settings`: kind (OAuth, GitHub App, AWS, HMAC), placements, headers, limits. Nothing secret',
  )

/**
 * The secret as the tools take it.
 * @throws {CommandFailure} where several texts were announced and something else came; its words quote nothing
 */
export function partsOf(
  secret: Secret<string>,
  { parts }: PartsOption,
): { secret: string } | { parts: Record<string, string> } {
  if (parts === undefined) return { secret: secret.use((text) => text) }
  const texts = SecretTexts.safeParse(secret.use((text) => parse(text)))
  if (texts.success) return { parts: texts.data }
  throw new CommandFailure(
    Exit.usage,
    'With --parts the secret is one JSON object of texts by lower-case names, each there once, such as {"client_secret": "…"}. ' +
      'Line breaks of a PEM key are written as \\n in it.',
  )
}

/** @throws {CommandFailure} naming what is wrong */
export async function settingsIn({ settingsFile }: SettingsOption): Promise<CredentialSettings> {
  if (settingsFile === undefined) return {}
  const text = await readFile(settingsFile, 'utf8').catch(() => undefined)
  if (text === undefined)
    throw new CommandFailure(
      Exit.usage,
      `The settings file ${settingsFile} cannot be read: it does not exist, or this user may not read it.`,
    )
  const settings = CredentialSettings.safeParse(parseInput(`The settings file ${settingsFile}`, text))
  if (settings.success) return settings.data
  const [issue] = settings.error.issues
  throw new CommandFailure(
    Exit.usage,
    `The settings file ${settingsFile} is not what settings are made of: /${issue?.path.join('/') ?? ''}: ${issue?.message ?? 'no JSON'}.`,
  )
}
