// `authority`: the key that wraps the key of every stored credential.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { AuthorityRotation } from '../../schemas/authority.ts'
import { authorityRotate } from '../../tools/authority-rotate.ts'
import { authorityRotation } from '../../tools/authority-rotation.ts'
import { type Client, connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { addConnectionOptions, type ConnectionOptions } from './options.ts'
import { printJson, printLine, printRecord } from './output.ts'
import { patiently } from './patience.ts'
import { startProgress } from './progress.ts'

const POLL_MS = 1_000

/** `authority rotate|status`: a new wrapping key for every stored credential. Needs an administrator's key. */
export function addAuthorityCommands(program: Command): void {
  const authority = program.command('authority').description('the key that wraps every stored credential')

  addConnectionOptions(authority.command('rotate'))
    .description(
      'make a new wrapping key and move every credential to it, while the gateway serves (administrators)',
    )
    .option('--no-wait', 'do not wait for the end: `authority status` shows the progress')
    .addHelpText(
      'after',
      `
No secret is decrypted: only the wrapped key of each record changes. The old key is destroyed, so back up the authority key file
(GATEWAY_AUTHORITY_KEY_FILE, default authority.jwk in the data directory) again afterwards. A key service (GATEWAY_AUTHORITY) makes and
disables its versions itself: rotate the key there first, and disable what this names as retired.
Ending this command does not end the rotation, and neither does a restart of the gateway: it goes on where it was.`,
    )
    .action(async (options: ConnectionOptions & { wait: boolean }) => {
      const client = await connect(options)
      const rotation = await client.call(authorityRotate, {})
      printRecord(options.wait ? await follow(client, rotation, options) : rotation, options)
    })

  addConnectionOptions(authority.command('status'))
    .description('the newest rotation, and how far it is')
    .option('--wait', 'until it is over')
    .action(async (options: ConnectionOptions & { wait?: boolean }) => {
      const client = await connect(options)
      const { rotation } = await client.call(authorityRotation, {})
      if (rotation === null) return options.json ? printJson({ rotation }) : printLine('No rotation so far.')
      printRecord(options.wait ? await follow(client, rotation, options) : rotation, options)
    })
}

/** Waits for the end of a rotation and says on stderr how far it is. */
async function follow(
  client: Client,
  begun: AuthorityRotation,
  { json }: ConnectionOptions,
): Promise<AuthorityRotation> {
  const progress = startProgress('credentials re-wrapped', { json })
  let rotation = begun
  try {
    while (rotation.state === 'running') {
      progress.at(rotation.rewrapped, rotation.total)
      await sleep(POLL_MS)
      const newest = (await patiently(() => client.call(authorityRotation, {}))).rotation
      if (newest?.rotation_id !== begun.rotation_id) break
      rotation = newest
    }
  } finally {
    progress.end()
  }
  if (rotation.state !== 'failed') return rotation
  if (rotation.kid === null)
    throw new CommandFailure(
      Exit.failed,
      'No new key could be made, since the gateway may not write where its key file is. Nothing was changed; its log names the file. ' +
        'Rotate on a gateway that has the file itself, or move to a key service (GATEWAY_AUTHORITY).',
      rotation,
    )
  throw new CommandFailure(
    Exit.failed,
    `The new key is in use, but these credentials could not be opened with any key: ${rotation.credential_ids.join(' ')}. ` +
      'The old keys are kept. If a key or a version of it was disabled or moved, bring it back; else replace or revoke those ' +
      'credentials. Then rotate again.',
    rotation,
  )
}
