/** Mantine's components in the palette of `tokens.css`. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

const BLUE: MantineColorsTuple = [
  '#edf3ff',
  '#dbe7fd',
  '#b5cdf9',
  '#86b3ff',
  '#5f95ee',
  '#3f7ce2',
  '#2a66d6',
  '#1d56c4',
  '#174aac',
  '#113b8c',
]

/** Mantine's dark scale: text first, ground last. */
const INK: MantineColorsTuple = [
  '#e2e8f0',
  '#c3ccd8',
  '#9aa6b8',
  '#66758a',
  '#263141',
  '#1b2330',
  '#141a23',
  '#0d1117',
  '#0a0e13',
  '#07090d',
]

export const theme = createTheme({
  colors: { blue: BLUE, dark: INK },
  primaryColor: 'blue',
  primaryShade: { light: 7, dark: 6 },
  fontFamily: 'var(--font-ui)',
  fontFamilyMonospace: 'var(--font-mono)',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  radius: { sm: '4px', md: '6px', lg: '10px' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs', allowDeselect: false } },
    MultiSelect: { defaultProps: { size: 'xs' } },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'sm' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, events: { hover: true, focus: true, touch: false } } },
    // In its place in the page, not at the end of the document: within a landmark, and without an element in the menu that is no choice.
    Menu: { defaultProps: { withinPortal: false, withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { centered: true, radius: 'lg', closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Anchor: { defaultProps: { underline: 'hover' } },
  },
})

/** White on it is readable; on Mantine's own red it is not. */
const RED_BUTTON = { '--mantine-color-red-filled': '#b3261e', '--mantine-color-red-filled-hover': '#96201a' } as const

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#17202e',
    '--mantine-color-dimmed': '#566072',
    '--mantine-color-anchor': '#1d56c4',
    '--mantine-color-placeholder': '#647084',
    '--mantine-color-default-border': '#c3cbd6',
    '--mantine-color-error': '#b3261e',
    ...RED_BUTTON,
  },
  dark: {
    '--mantine-color-body': '#141a23',
    '--mantine-color-text': '#e2e8f0',
    '--mantine-color-dimmed': '#9aa6b8',
    '--mantine-color-anchor': '#86b3ff',
    '--mantine-color-placeholder': '#8592a5',
    '--mantine-color-default-border': '#3a475a',
    '--mantine-color-disabled': '#1f2835',
    '--mantine-color-disabled-color': '#7a879a',
    '--mantine-color-error': '#ff9d94',
    ...RED_BUTTON,
  },
})
