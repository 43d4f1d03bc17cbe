// The way to a service that is sold, alive.
import { Onboarding, type OnboardingProps } from '../components/onboarding/onboarding.tsx'
import { mount } from './lib/mount.ts'

const makeAccount = () => import('./lib/test-account.ts').then(({ makeTestAccount }) => makeTestAccount())

mount('onboarding', (props: OnboardingProps) => <Onboarding {...props} makeAccount={makeAccount} />)
