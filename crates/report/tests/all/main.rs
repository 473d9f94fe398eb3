//! Reports as whole files; in one program, so that it is linked once.

mod file;
