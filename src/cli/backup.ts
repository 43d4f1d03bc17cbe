// `backup`: everything but the keys, in one file, while the gateway serves or while it is stopped.
import { setTimeout as sleep } from 'node:timers/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { backupGet } from '../../tools/backup-get.ts'
import { backupMake } from '../../tools/backup-make.ts'
import { backupName, keyFiles } from '../app/backup.ts'
import { loadConfig } from '../app/config.ts'
import { API_VERSION } from '../core/config.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { refuseMoved } from '../store/sqlite/moved.ts'
import { streamBackup, writeBackup } from '../store/transfer/write-backup.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { addConnectionOptions, type ConnectionOptions } from './options.ts'
import { printJson, printLine, printRecord } from './output.ts'
import { patiently } from './patience.ts'
import { wholeStdout } from './stdout.ts'
import { faultOf, runTransfer } from './transfer.ts'

const POLL_MS = 250
/** Where another replica answered, the next question may find the one that is asked for. */
const ELSEWHERE_MS = 100
const MOST_ELSEWHERE = 50

/** `backup`: reads the database itself, or asks the gateway that `--url` names. */
export function addBackupCommand(program: Command): void {
  addConnectionOptions(program.command('backup'))
    .option('--out <file>', 'a new file (0600); - is stdout; default backup-<time>.gz in this directory')
    .description('write everything but the keys into one file, while the gateway serves or is stopped')
    .addHelpText(
      'after',
      `
Needs GATEWAY_DATA_DIR (and GATEWAY_DATABASE_URL where that is set), as the gateway is started with. The file holds the database as it is committed at one moment, and
the documents; \`agent-gateway restore\` takes it, into SQLite or PostgreSQL, whichever it came from. No key is in it: whoever has the file and the key files has every
credential, so keep those apart. They are named at the end, and change only when you rotate.
With --url that gateway makes the file and keeps it in its own data directory (administrators).
What is cut off leaves no file of this name. A hidden file that ends in .part may stay after a power cut: remove it.`,
    )
    .action(async (options: ConnectionOptions & { out?: string }) => {
      if (options.url === undefined) return backUpHere(options)
      if (options.out !== undefined)
        throw new CommandFailure(
          Exit.usage,
          'With --url the gateway keeps the file in its own data directory: leave --out away, and fetch it from there.',
        )
      await backUpThere(options)
    })
}

async function backUpHere({ out, json }: { out?: string; json?: boolean }): Promise<void> {
  const config = loadConfig(process.env)
  // The copy that stayed behind is not the data any more.
  if (config.databaseUrl === undefined) refuseMoved(config.dataDir)
  const at = Date.now()
  const fault = faultOf(config)
  if (out === '-' && process.stdout.isTTY)
    throw new CommandFailure(
      Exit.usage,
      'The backup is no text: redirect it (--out - > FILE), or name a file.',
    )
  const file = out === '-' ? '-' : resolve(out ?? backupName(at))
  const startedAt = performance.now()
  const written = await runTransfer(config, { json }, ({ show, signal }) => {
    const options = {
      config,
      origin: { gateway: API_VERSION, taken_at: toTimestamp(at) },
      onProgress: (rows: number, about: { rows: number }) => show('backing up', rows, about.rows),
      signal,
    }
    return file === '-'
      ? streamBackup(options, wholeStdout())
      : writeBackup({ ...options, beforeNaming: () => fault.at('after_backup_written') }, file)
  })
  const record = {
    file,
    bytes: written.bytes,
    rows: written.rows,
    sha256: written.sha256,
    seconds: Number(((performance.now() - startedAt) / 1000).toFixed(1)),
    keys: keyFiles(config),
  }
  // Stdout is the backup.
  if (file === '-')
    return void process.stderr.write(
      `${written.rows} rows, ${written.bytes} bytes, sha256 ${written.sha256}\n`,
    )
  if (json) return printJson(record)
  const { keys, ...rest } = record
  printRecord(rest, {})
  printLine(
    `\nNot in it, and needed by a restore; keep them elsewhere:\n${keys.map((key) => `  ${key}`).join('\n')}`,
  )
}

async function backUpThere(options: ConnectionOptions): Promise<void> {
  const client = await connect(options)
  let state = await client.call(backupMake, {})
  const startedAt = state.started_at
  let elsewhere = 0
  while (state.state === 'running') {
    await sleep(elsewhere > 0 ? ELSEWHERE_MS : POLL_MS)
    const heard = await patiently(() => client.call(backupGet, {}))
    // Each replica knows of its own alone: what another one made earlier is no answer.
    if (heard.started_at === startedAt) {
      elsewhere = 0
      state = heard
    } else if (++elsewhere === MOST_ELSEWHERE) throw heardOfOthers(client.url, startedAt)
  }
  if (state.state !== 'done')
    throw new CommandFailure(
      Exit.failed,
      state.error ?? 'The gateway made no backup; its log says why.',
      state,
    )
  printRecord({ ...state, file: `backups/${state.file}, in the data directory of ${client.url}` }, options)
}

const heardOfOthers = (url: string, startedAt: string | null) =>
  new CommandFailure(
    Exit.failed,
    `Nobody at ${url} knows of the backup that began there at ${startedAt}: the replica that makes it was not among those that answered, or it ended. ` +
      'Ask one replica directly: `--url` with its own address.',
  )
