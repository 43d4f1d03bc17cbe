// Joining by invitation, alive.
import { JoinForm, type JoinFormProps, type JoinHands } from '../components/join-form.tsx'
import { mount } from '../../site/browser/lib/mount.ts'
import { signInTexts } from '../texts/sign-in.ts'
import { makePasskey, send, wordsOf } from './lib/passkey.ts'

function handsOf({ to, csrf, language }: JoinFormProps): JoinHands {
  const words = signInTexts[language]
  return {
    takeInvitation() {
      const token = location.hash.slice(1)
      // Neither the history nor whoever looks over a shoulder keeps it.
      history.replaceState(null, '', location.pathname)
      return token.startsWith('agw_inv_') ? token : undefined
    },
    look: (token) => send(to, { _csrf: csrf, _action: 'look', secret_invitation: token }),
    async make(token, name) {
      const { personId, options } = await send<{ personId: string; options: object }>(to, {
        _csrf: csrf,
        _action: 'ask',
        secret_invitation: token,
        name,
      })
      return { personId, answer: await makePasskey(options, words) }
    },
    wordsOf: (thrown) => wordsOf(thrown, words),
  }
}

let hands: JoinHands | undefined
mount('console-join', (props: JoinFormProps) => <JoinForm {...props} hands={(hands ??= handsOf(props))} />)
