// What people are told of a permit that waits for them, wherever that is: who asks, for which host, and until when; nothing of the request.
import { toTimestamp } from '../lib/timestamp.ts'
import type { NewPermit } from '../store/ports.ts'

type Told = Pick<
  NewPermit,
  'id' | 'method' | 'host' | 'expiresAt' | 'preparedKind' | 'preparedBy' | 'preparedPerson'
>

export const approvalAlert = (permit: Told): Readonly<Record<string, string | null>> => ({
  permit_id: permit.id,
  method: permit.method,
  host: permit.host,
  prepared_by:
    permit.preparedKind === null
      ? null
      : `${permit.preparedKind.replace('_', ' ')} ${permit.preparedBy ?? ''}`,
  expires_at: toTimestamp(permit.expiresAt),
})
