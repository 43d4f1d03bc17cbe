import { z } from 'zod'
import { Timestamp } from './http.ts'

/** The newest backup of this process. */
export const BackupState = z.strictObject({
  state: z.enum(['none', 'running', 'done', 'failed']),
  bytes_done: z.int().min(0),
  bytes_total: z.int().min(0).nullable(),
  file: z.string().nullable().describe('In the folder `backups` of the data directory, and in the console'),
  bytes: z.int().min(0).nullable(),
  sha256: z.string().nullable().describe('Of the file, in hexadecimal'),
  rows: z.int().min(0).nullable().describe('Rows and documents in it; keys are never among them'),
  keys: z.array(z.string()).describe('Files that a restore needs besides, to be backed up apart'),
  error: z.string().nullable(),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
})
export type BackupState = z.infer<typeof BackupState>
