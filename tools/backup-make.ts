import { z } from 'zod'
import { BackupState } from '../schemas/backup.ts'
import { free } from '../src/core/price.ts'
import { toTimestamp } from '../src/lib/timestamp.ts'
import { type BackupMade, defineTool, type Services } from './services.ts'

const KIND = 'backup'

export const backupMake = defineTool({
  name: 'gateway.backup.make',
  toolset: 'operator',
  title: 'Make a backup',
  summary:
    'Begins a backup of the database and the documents as they are at one moment, while calls go on; one that runs already is answered instead. The file ' +
    'is left in the data directory, and `agent-gateway restore` takes it, on either engine. Keys are never in it. Owners of the first account alone.',
  input: z.strictObject({}),
  output: BackupState,
  price: free,
  caller: 'admin',
  roles: [],
  needsFreshSignIn: true,
  doors: ['rest'],
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/backup', operationId: 'makeBackup' },
  errors: ['key_required', 'admin_required', 'role_required', 'fresh_sign_in_required', 'state_conflict'],
  examples: [{ title: 'Begin', input: {} }],
  handle: async function backupMake(_input, { backup, jobs, caller }) {
    const { accountId } = caller
    jobs.begin({ kind: KIND, accountId, by: caller.id, admin: true }, backup.make)
    return readBackup({ backup, jobs }, accountId)
  },
})

/** @returns the newest backup as callers see it */
export async function readBackup(
  { backup, jobs }: Pick<Services, 'backup' | 'jobs'>,
  accountId: string,
): Promise<BackupState> {
  const { keys } = await backup.describe()
  const job = jobs.latest<BackupMade>(accountId, KIND)
  const time = (at: number | null | undefined) => (at == null ? null : toTimestamp(at))
  return {
    state: job?.state ?? 'none',
    bytes_done: job?.done ?? 0,
    bytes_total: job?.total ?? null,
    file: job?.result?.file ?? null,
    bytes: job?.result?.bytes ?? null,
    sha256: job?.result?.sha256 ?? null,
    rows: job?.result?.rows ?? null,
    keys: [...keys],
    error: job?.error ?? null,
    started_at: time(job?.startedAt),
    finished_at: time(job?.endedAt),
  }
}
