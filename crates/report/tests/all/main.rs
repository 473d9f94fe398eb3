//! Reports as whole files, and read back as printed ones; in one program, so that it is linked once.

mod file;
mod read_back;
