//! URLs as people type them at a load tester.
