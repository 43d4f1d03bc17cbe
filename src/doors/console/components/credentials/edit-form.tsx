// What may be changed of a credential without its secret.
import type { VNode } from 'preact'
import { editableSettings, type ShownCredential, targetsOf } from '../../credentials/settings.ts'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts } from '../../texts/credentials.ts'
import { BudgetFields } from '../budgets.tsx'
import { forForm } from '../fields.tsx'
import { Field, Form } from '../form.tsx'
import { FurtherFields, ScopeFields } from './scope-fields.tsx'

interface EditFormProps {
  readonly page: ConsoleContext
  readonly credential: ShownCredential
}

export function EditForm({ page: around, credential }: EditFormProps): VNode {
  const page = forForm(around, 'edit')
  const t = credentialTexts[page.language]
  const isAdministrator = page.signedIn?.admin === true
  const { unsafe_private_targets: _targets, ...others } = editableSettings(credential)
  const settings = isAdministrator ? others : editableSettings(credential)
  const json = Object.keys(settings).length === 0 ? '' : JSON.stringify(settings, null, 2)
  return (
    <details class="console-section" open={page.refused !== undefined}>
      <summary>{t.edit}</summary>
      <Form page={page} action="edit" class="stack" values={{ version: String(credential.version) }}>
        <p class="muted small">{t.editHint}</p>
        <Field page={page} name="label" label={t.label} value={credential.label} isRequired />
        <ScopeFields
          page={page}
          hosts={credential.hosts}
          paths={credential.path_prefixes}
          methods={credential.methods}
          hostsHelp={t.hostsHelp}
          needsHosts
        />
        <BudgetFields page={page} budgets={credential.budgets} />
        <FurtherFields page={page} settings={json} targets={isAdministrator ? targetsOf(credential) : []} />
        <p>
          <button class="primary">{t.save}</button>
        </p>
      </Form>
    </details>
  )
}
