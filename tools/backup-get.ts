import { z } from 'zod'
import { BackupState } from '../schemas/backup.ts'
import { free } from '../src/core/price.ts'
import { readBackup } from './backup-make.ts'
import { defineTool } from './services.ts'

export const backupGet = defineTool({
  name: 'gateway.backup.get',
  toolset: 'operator',
  title: 'How far the backup is',
  summary:
    'The newest backup that this process made, or makes now, and the files that a restore needs besides. For the administrator.',
  input: z.strictObject({}),
  output: BackupState,
  price: free,
  caller: 'admin',
  doors: ['rest'],
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/backup', operationId: 'getBackup' },
  errors: ['key_required', 'admin_required'],
  examples: [{ title: 'How far it is', input: {} }],
  handle: async function backupGet(_input, { backup, jobs, caller }) {
    return readBackup({ backup, jobs }, caller.accountId)
  },
})
