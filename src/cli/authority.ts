// `authority`: the key that wraps the key of every stored credential.
import type { Command } from 'commander'
import { authorityRotate } from '../../tools/authority-rotate.ts'
import { connect } from './client.ts'
import { addConnectionOptions, type ConnectionOptions } from './options.ts'
import { printRecord } from './output.ts'

/** `authority rotate`: a new wrapping key for every stored credential. Needs an administrator's key. */
export function addAuthorityCommands(program: Command): void {
  const authority = program.command('authority').description('the key that wraps every stored credential')

  addConnectionOptions(authority.command('rotate'))
    .description(
      'make a new wrapping key and move every credential to it, while the gateway serves (administrators)',
    )
    .addHelpText(
      'after',
      `
No secret is decrypted: only the wrapped key of each record changes. The old key is destroyed, so back up the authority key file
(GATEWAY_AUTHORITY_KEY_FILE, default authority.jwk in the data directory) again afterwards.`,
    )
    .action(async (options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(authorityRotate, {}), options)
    })
}
