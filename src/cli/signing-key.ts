// `signing-key`: the keys that sign receipts, quotes, permits and evidence.
import type { Command } from 'commander'
import { signingKeysList } from '../../tools/signing-keys-list.ts'
import { signingKeysRetire } from '../../tools/signing-keys-retire.ts'
import { signingKeysRevoke } from '../../tools/signing-keys-revoke.ts'
import { signingKeysRotate } from '../../tools/signing-keys-rotate.ts'
import { connect } from './client.ts'
import { addConnectionOptions, addTableOptions, type ConnectionOptions } from './options.ts'
import type { TableOptions } from './table.ts'
import { printPage, printRecord } from './output.ts'

const COLUMNS = ['kid', 'state', 'not_before', 'retired_at', 'revoked_at', 'reason']

/** Adds `signing-key rotate`, `list`, `retire` and `revoke`. */
export function addSigningKeyCommands(program: Command): void {
  const keys = program
    .command('signing-key')
    .description('the keys that sign receipts, quotes, permits and evidence (administrators)')

  addConnectionOptions(keys.command('rotate'))
    .description('make a new signing key, which signs from now on, while the gateway serves')
    .addHelpText(
      'after',
      `
The key before it is retired: it stays published, and what it signed verifies as before. Its private half is destroyed, so back up
signing.jwk in the data directory again. Every replica takes the new key within seconds.`,
    )
    .action(async (options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(signingKeysRotate, {}), options)
    })

  addTableOptions(addConnectionOptions(keys.command('list')))
    .description('list the keys that sign or signed, newest first, with their validity')
    .action(async (options: ConnectionOptions & TableOptions) => {
      const answer = await (await connect(options)).call(signingKeysList, {})
      printPage({ ...answer, next: null }, answer.keys, COLUMNS, 'No signing keys.', options)
    })

  addConnectionOptions(keys.command('retire <kid>'))
    .description('end the validity of a key that a replica of before used; rotate retires the one that signs')
    .action(async (kid: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(signingKeysRetire, { kid }), options)
    })

  addConnectionOptions(keys.command('revoke <kid>'))
    .description(
      'for a stolen key: nothing that it ever signed verifies any more; a key that signs is replaced first',
    )
    .requiredOption('--reason <text>', 'published with the key, for whoever holds something that it signed')
    .addHelpText(
      'after',
      `
Receipts stay readable at their address, signed anew with the current key. Quotes and top-up references of the revoked key are
refused; whoever holds one asks for a new one. Stored results stay with their buyers.

Example:
  agent-gateway signing-key revoke x_VyhGzXwz2tEZzmSTG2tmJ5a3l4pRuw1vFm0cHXu8c --reason "stolen with a backup"`,
    )
    .action(async (kid: string, options: ConnectionOptions & { reason: string }) => {
      const { reason } = options
      printRecord(await (await connect(options)).call(signingKeysRevoke, { kid, reason }), options)
    })
}
